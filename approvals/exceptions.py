"""Refusals: exceptions whose text is the one sentence that API, form and tooltip show alike.

The text says what is in the way and what to do next, and never holds a secret. `as_problem` is the
application/problem+json form (RFC 9457); `code` is stable, the text may be improved.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, ClassVar

# What somebody has done when a decision of this kind stands in the log.
DECIDED: Mapping[str, str] = {
    "replay": "let this run start again",
    "force_replay": "forced this run to start again",
    "declare_interrupted": "declared this run interrupted",
    "dismiss": "dismissed this",
    "reopen": "reopened this",
    "resolve_run": "resolved this",
    "replay_again": "had this run started once more",
    "answer_calls": "answered the open calls of this run",
    "confirm_call": "confirmed a tool call of this run",
    "reject_call": "rejected a tool call of this run",
    "stop_replay": "stopped this replay",
    "approve": "approved this campaign",
    "reject": "rejected this campaign",
    "return_campaign": "returned this campaign to its proposer",
    "pause_send": "paused this campaign",
    "resolve_delivery": "resolved this delivery",
    "send_again": "had this sent once more",
    "cancel_replay": "took this replay back",
    "cancel_send": "took this approval back",
    "stop": "stopped this campaign",
    "resume_replay": "let this replay go on",
    "resume_send": "let this sending go on",
    "send_test": "asked for a test of this message",
    "tell_again": "had this told again",
    "suppress": "put this address on the list",
    "unsuppress": "released this address",
}


class Refusal(Exception):
    """Something that was asked for and is not done.

    `code` is a stable word for machines, `text` a sentence for people, `status` the HTTP status,
    `field` the input that is at fault if one is, `extra` further JSON values for the problem document.
    """

    default_code: ClassVar[str] = "refused"
    default_status: ClassVar[int] = 400

    def __init__(
        self,
        text: str,
        *,
        code: str | None = None,
        status: int | None = None,
        field: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(text)
        self.text = text
        self.code = code or self.default_code
        self.status = status or self.default_status
        self.field = field
        self.extra: dict[str, Any] = dict(extra or {})

    def __str__(self) -> str:
        return self.text

    def as_problem(self) -> dict[str, Any]:
        """The application/problem+json document; what `extra` holds never hides a standard member."""
        problem: dict[str, Any] = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.text,
            "code": self.code,
        }
        if self.field is not None:
            problem["field"] = self.field
        return {**self.extra, **problem}


class NotFound(Refusal):
    """There is no such object, or none that this actor may know of: the two must look the same."""

    default_code = "not_found"
    default_status = 404

    def __init__(self, text: str = "There is nothing here under that name or number.") -> None:
        super().__init__(text)


class NotAllowed(Refusal):
    """The actor may see the object, but no role of theirs allows this (see rules.permissions.why_not)."""

    default_code = "not_allowed"
    default_status = 403


class Conflict(Refusal):
    """The state of the object does not allow this now."""

    default_code = "conflict"
    default_status = 409


class Stale(Conflict):
    """What the decider was shown is no longer what is there; `changed` has one sentence a difference."""

    default_code = "stale"

    def __init__(self, changed: Sequence[str]) -> None:
        self.changed = list(changed)
        super().__init__(
            "This changed after you opened it, so nothing was decided. Look at what is new and decide again.",
            extra={"changed": self.changed},
        )


class AlreadyDecided(Conflict):
    """Somebody was first. `what` is a decision kind, `when` an aware time; `why` and the id of `who` may be empty."""

    default_code = "already_decided"

    def __init__(self, who: str, what: str, when: datetime, why: str = "", *, who_id: str = "") -> None:
        self.who_id = who_id
        self.who, self.what, self.when, self.why = who, what, when, why
        at = when.astimezone(UTC)
        reason = f" The reason given: “{why}”" if why else ""
        super().__init__(
            f"{who} already {DECIDED.get(what, 'decided this')} on {at.day} {at:%B %Y at %H:%M} UTC."
            f" Nothing of yours happened.{reason}",
            extra={"decision": {"who": who, "what": what, "when": at.isoformat(), "why": why}},
        )


class Invalid(Refusal):
    """Input that cannot be accepted, with the field that is at fault."""

    default_code = "invalid"
    default_status = 422

    def __init__(self, field: str | None, text: str, *, status: int | None = None) -> None:
        super().__init__(text, field=field, status=status)


class Unavailable(Refusal):
    """Something this depends on is not there right now; asking again later is right."""

    default_code = "unavailable"
    default_status = 503
