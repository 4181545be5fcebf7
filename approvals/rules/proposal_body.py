"""A proposal as it is written down: in a body of the machine API, and in the arguments of a tool call.

What may stand there is the same for both, so it is read here for both. Pydantic's schemas, and no framework.
"""

import json
import re
from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, Field, ValidationError, WithJsonSchema, model_validator

from approvals.exceptions import Invalid
from approvals.rules import strict_json
from approvals.rules.attachments import LONGEST_NAME as LONGEST_FILENAME
from approvals.rules.attachments import LONGEST_TYPE, Wanted, check_content_type, check_filename
from approvals.rules.attachments import MOST as MOST_ATTACHED
from approvals.rules.fields import Body, HeaderLine, Id, Line, Note, Text, Time, wrong
from approvals.rules.proposals import Proposal, Recipient
from approvals.rules.wrong_fields import field_of, words_of

MOST_RECIPIENTS = 10_000
MOST_VARS = 100
LONGEST_VAR = 10_000
LONGEST_NAME = 200  # characters of a campaign's name
_SHA256 = re.compile(r"[0-9a-f]{64}")
MOST_ARGUMENTS = 5 * 1024 * 1024  # characters of a tool call's arguments
TOO_LONG = "The arguments are longer than 5 MB. Send the recipients as a list, and name it as dataset_id."


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


def _sha256(text: str) -> str:
    if not _SHA256.fullmatch(text):
        raise wrong("sha256", "Write the SHA-256 of the file as 64 hexadecimal digits in small letters.")
    return text


def _filename(text: str) -> str:
    if reason := check_filename(text):
        raise wrong("filename", reason)
    return text


def _content_type(text: str) -> str:
    if reason := check_content_type(text):
        raise wrong("content_type", reason)
    return text


Sha256 = Annotated[
    str, AfterValidator(_sha256), WithJsonSchema({"type": "string", "pattern": "^[0-9a-f]{64}$"})
]
ContentType = Annotated[
    str,
    AfterValidator(_content_type),
    WithJsonSchema(
        {
            "type": "string",
            "maxLength": LONGEST_TYPE,
            "pattern": "^(?!message/|multipart/)[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*$",
            "examples": ["application/pdf"],
        }
    ),
]


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


class AttachmentIn(Body):
    """A file that was sent before, and how the mail names it."""

    sha256: Sha256
    filename: Annotated[str, AfterValidator(_filename)] = Field(
        min_length=1,
        max_length=LONGEST_FILENAME,
        description="Without folders, and without characters that cannot be seen.",
    )
    content_type: ContentType

    def wanted(self) -> Wanted:
        """As the service takes it."""
        return Wanted(sha256=self.sha256, filename=self.filename, content_type=self.content_type)


class ProposalBody(Body):
    """What is to be sent, and to whom."""

    purpose: Note | None = None
    send_by: Time | None = None
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
    def _one_audience(self) -> "ProposalBody":
        if ("recipients" in self.model_fields_set) == (self.dataset_id is not None):
            raise wrong("audience", "Name either recipients or a dataset_id.", field="recipients")
        if self.where is not None and self.dataset_id is None:
            raise wrong("where", "Only a list can be filtered.", field="where")
        return self

    def proposal(self, *, external_id: str, name: str, run_id: UUID | None) -> Proposal:
        """The proposal as the service takes it."""
        return Proposal(
            external_id=external_id,
            name=name,
            purpose=self.purpose or "",
            send_by=self.send_by,
            run_id=run_id,
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


class CalledBody(ProposalBody):
    """The arguments of a call: an agent need not think of a name or an id."""

    external_id: Line | None = None
    name: Line | None = None

    def called(self, *, external_id: str, run_id: UUID) -> Proposal:
        """The proposal; `external_id` where the call names none, and the subject in place of a name."""
        name = self.name or self.subject[:LONGEST_NAME]
        return self.proposal(external_id=self.external_id or external_id, name=name, run_id=run_id)


def read_arguments(args: Any) -> CalledBody:
    """What a call proposes. Invalid with the first field that cannot be used; strict as the machine API is.

    `args` is any JSON value: what was reported, or stood in a runtime's own store.
    """
    if len(json.dumps(args, ensure_ascii=False)) > MOST_ARGUMENTS:
        raise Invalid(None, TOO_LONG)
    try:
        # Escaped, so that no encoder fails at what strict_json then finds.
        given = strict_json.loads(json.dumps(args).encode())
    except strict_json.BadJson as bad:
        raise Invalid(bad.field, bad.text.replace("The body", "What it was called with", 1)) from None
    try:
        return CalledBody.model_validate(given)
    except ValidationError as error:
        first: Mapping[str, Any] = error.errors()[0]
        raise Invalid(field_of(first, first["loc"]), words_of(first)) from None
