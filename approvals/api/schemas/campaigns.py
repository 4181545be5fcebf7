"""Campaigns: a proposal, and where it stands."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from approvals.api.schemas.attachments import AttachmentOut
from approvals.rules.fields import Id, Line
from approvals.rules.proposal_body import ProposalBody
from approvals.rules.proposals import Proposal


class CampaignIn(ProposalBody):
    """A mail to many, which goes out only when a person approves exactly this."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "external_id": "spring-2026",
                    "name": "Spring offers",
                    "purpose": "Customers who asked for news of the spring range.",
                    "send_by": "2099-05-04T13:30:00Z",
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
    run_id: Id | None = Field(None, description="The run that proposes it, if one does.")

    def told(self) -> Proposal:
        """The proposal as the service takes it."""
        return self.proposal(external_id=self.external_id, name=self.name, run_id=self.run_id)


class Counts(BaseModel):
    """How many recipients there are of each kind, and how many deliveries in each state."""

    total: int
    addressable: int
    lacking: int = Field(
        description="Of the addressable ones, those without a value for a merge field: their message would show it"
        " unfilled. A reviewer sees the same number."
    )
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
    lacking_fields: list[str] = Field(
        description="The merge fields for which somebody lacks a value. Propose another version with it, or without"
        " these fields."
    )


class CampaignOut(CampaignProposed):
    """Where a campaign stands. `comment` is the reviewer's, for whoever proposed it."""

    external_id: str
    name: str
    comment: str
    attachments: list[AttachmentOut]
    sends_at: datetime | None = Field(description="Approved: not before this time it goes out.")
    send_by: datetime | None
    created_at: datetime
    finished_at: datetime | None
