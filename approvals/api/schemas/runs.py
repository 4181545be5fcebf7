"""Runs: what opens one, and how one is told."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from approvals.rules.fields import AnyJson, Body, Line
from approvals.services.journal import NewRun

Status = Literal["running", "completed", "failed", "interrupted", "cancelled"]


class RunIn(Body):
    """A run that has just begun."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "external_id": "refund-4711",
                    "agent": "support",
                    "session_id": "s-20",
                    "subject": "customer-17",
                    "trigger": "ticket",
                    "input": {"text": "Please refund customer C-17."},
                }
            ]
        }
    )

    external_id: Line = Field(description="The runtime's own name of the run; unique for each subject.")
    agent: Line
    session_id: Line | None = None
    subject: Line = Field(description="The customer on whose behalf the agent works.")
    trigger: Line = Field(description="What started it, such as a ticket or a schedule.")
    input: AnyJson = Field(
        description="What the agent was given: any JSON value. A replay is given the same."
    )

    def told(self) -> NewRun:
        """The run as the journal takes it."""
        return NewRun(
            external_id=self.external_id,
            agent=self.agent,
            session_id=self.session_id or "",
            subject=self.subject,
            trigger=self.trigger,
            input=self.input,
        )


class RunOpened(BaseModel):
    """A run that is known now."""

    id: UUID
    status: Status


class RecordOut(BaseModel):
    """What a run is known to have called."""

    kind: Literal["none", "called", "unknown"]
    complete: bool = Field(description="The end was seen and no event is missing.")
    code: str = Field(description="A stable word for why the record is what it is.")
    why: str = Field(description="The same as a sentence.")


class CallOut(BaseModel):
    """One tool call."""

    call_id: str
    name: str
    state: Literal[
        "open", "answered", "failed", "supplied", "rejected", "awaiting", "aborted", "withdrawn"
    ] = Field(
        description="open and aborted: nobody knows whether it happened. awaiting: it asks for a confirmation and has"
        " not been made. withdrawn: it is no longer asked about. supplied: its result was given from outside."
    )
    args: Any = Field(description="null where they were erased.")
    provenance: Literal["reported", "observed", "guarded"]


class NamedCall(BaseModel):
    """One tool call as a reason names it."""

    run_id: UUID
    call_id: str
    name: str
    state: str
    args_summary: str
    provenance: str


class ReasonOut(BaseModel):
    """One thing that stands in the way of starting again."""

    code: str
    text: str
    calls: list[NamedCall]


class VerdictOut(BaseModel):
    """Whether the run may start again without a person."""

    may_start_again: bool
    reasons: list[ReasonOut]


class AttemptOut(BaseModel):
    """One attempt of the lineage; the first is the original."""

    id: UUID
    external_id: str
    status: Status
    replay_of: UUID | None
    created_at: datetime


class ErrorOut(BaseModel):
    """What a failed run ended with. Once it called a tool, nothing of this says that trying again would be right."""

    code: str | None = Field(description="Such as `rate_limited`, where the error has one.")
    text: str
    completed: list[str] = Field(description="The tools whose calls have an answer.")
    open: list[str] = Field(description="The tools of whose calls nobody knows whether they happened.")


class AskedOut(BaseModel):
    """Another run of the same session and subject with the same input."""

    run_id: UUID
    external_id: str
    status: Status
    called: list[str] = Field(description="The tools that it called.")


class AskedAgainOut(BaseModel):
    """The same was asked before, of a run that broke off after it called a tool; or again, after this run did."""

    earlier: list[AskedOut]
    later: list[AskedOut]


class RunOut(BaseModel):
    """A run, what it did, and what the rules say."""

    id: UUID
    external_id: str
    agent: str
    subject: str
    status: Status
    record: RecordOut
    calls: list[CallOut]
    lineage: list[AttemptOut]
    error: ErrorOut | None = Field(description="null unless the run failed and said why.")
    asked_again: AskedAgainOut
    verdict: VerdictOut


class RunsOut(BaseModel):
    """One page of runs, newest first; `next` is the `after` of the next page, null on the last one."""

    runs: list[RunOut]
    next: str | None


class RunFilter(Body):
    """Which runs, and from where on."""

    model_config = ConfigDict(strict=False)

    status: Status | None = None
    agent: Line | None = None
    subject: Line | None = None
    after: str | None = Field(None, max_length=200, description="`next` of the page before.")
    limit: int = Field(50, ge=1, le=200)


class ReplayStarted(BaseModel):
    """The run that starts again: `run_id` is the new attempt, which the runtime is about to be handed."""

    job_id: UUID
    run_id: UUID
    decision_id: UUID
    status: str
