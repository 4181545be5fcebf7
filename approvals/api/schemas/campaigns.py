"""Campaigns: a proposal, and where it stands."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

from approvals.api.fields import Body, HeaderLine, Id, Line, Note, Text, Time, wrong
from approvals.api.schemas.attachments import AttachmentIn, AttachmentOut
from approvals.rules.attachments import MOST as MOST_ATTACHED
from approvals.rules.proposals import Proposal, Recipient

MOST_RECIPIENTS = 10_000
MOST_VARS = 100
LONGEST_VAR = 10_000


def _variable(value: Any) -> Any:
    if not isinstance(value, str | int | float | bool):
        raise wrong("variable", "A variable must be text, a number, true or false.")
    if isinstance(value, str) and len(value) > LONGEST_VAR:
        raise wrong("variable_too_long", f"A variable must not be longer than {LONGEST_VAR} characters.")
    return value


def _not_blank(text: str) -> str:
    if not text.strip():
        raise wrong("blank", "This needs at least one character that is not a space.")
    return text


Variable = Annotated[
    Any,
    AfterValidator(_variable),
    WithJsonSchema(
        {"anyOf": [{"type": "string", "maxLength": LONGEST_VAR}, {"type": "number"}, {"type": "boolean"}]}
    ),
]


class RecipientIn(Body):
    """One recipient. An address that cannot be written to is excluded with its reason, and shown to the reviewer."""

    email: str
    vars: dict[Line, Variable] = Field(
        default_factory=dict,
        max_length=MOST_VARS,
        description="What {{ name }} stands for in subject and texts.",
    )


class CampaignIn(Body):
    """A mail to many, which goes out only when a person approves exactly this."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "external_id": "spring-2026",
                    "name": "Spring offers",
                    "purpose": "Customers who asked for news of the spring range.",
                    "send_by": "2026-05-04T13:30:00Z",
                    "from": "Shop <news@shop.example>",
                    "reply_to": "help@shop.example",
                    "subject": "New in spring, {{ first_name }}",
                    "text": "Dear {{ first_name }}, ...",
                    "recipients": [{"email": "ann@shop.example", "vars": {"first_name": "Ann"}}],
                }
            ]
        }
    )

    external_id: Line
    name: Line
    purpose: Note | None = None
    send_by: Time | None = None
    run_id: Id | None = Field(None, description="The run that proposes it, if one does.")
    sender: HeaderLine = Field(alias="from", description="One address, with a name to show if you like.")
    reply_to: HeaderLine | None = None
    subject: HeaderLine
    text: Annotated[Text, AfterValidator(_not_blank)] = Field(min_length=1)
    html: Text | None = None
    recipients: list[RecipientIn] = Field(default_factory=list, min_length=1, max_length=MOST_RECIPIENTS)
    dataset_id: Id | None = Field(None, description="An imported list, in place of recipients.")
    where: dict[Line, Line] | None = Field(
        None,
        description="Which rows of the list: columns, and the value that each must have. Without it all of them.",
    )
    attachments: list[AttachmentIn] = Field(
        default_factory=list,
        max_length=MOST_ATTACHED,
        description="Files that were sent to /attachments before; together up to 15 MB.",
    )

    @model_validator(mode="after")
    def _one_audience(self) -> "CampaignIn":
        if ("recipients" in self.model_fields_set) == (self.dataset_id is not None):
            raise wrong("missing", "Name either recipients or a dataset_id.", field="recipients")
        if self.where is not None and self.dataset_id is None:
            raise wrong("where", "Only a list can be filtered.", field="where")
        return self

    def told(self) -> Proposal:
        """The proposal as the service takes it."""
        return Proposal(
            external_id=self.external_id,
            name=self.name,
            purpose=self.purpose or "",
            send_by=self.send_by,
            run_id=self.run_id,
            sender=self.sender,
            reply_to=self.reply_to or "",
            subject=self.subject,
            text=self.text,
            html=self.html or "",
            recipients=[Recipient(recipient.email, recipient.vars) for recipient in self.recipients],
            dataset_id=self.dataset_id,
            where=self.where,
            attachments=[one.wanted() for one in self.attachments],
        )


class Counts(BaseModel):
    """How many recipients there are of each kind, and how many deliveries in each state."""

    total: int
    addressable: int
    duplicate: int
    suppressed: int
    refused: int
    already_sent: int
    planned: int
    attempting: int
    sent: int
    failed: int
    in_doubt: int
    skipped: int


CampaignStatus = Literal[
    "pending", "returned", "approved", "rejected", "sending", "paused", "finished", "stopped"
]


class CampaignProposed(BaseModel):
    """A campaign and its newest version; `digest` stands for exactly what a person is shown of it."""

    id: UUID
    status: CampaignStatus
    version: int
    digest: str
    counts: Counts


class CampaignOut(CampaignProposed):
    """Where a campaign stands. `comment` is the reviewer's, for whoever proposed it."""

    external_id: str
    name: str
    comment: str
    attachments: list[AttachmentOut]
    send_by: datetime | None
    created_at: datetime
    finished_at: datetime | None
