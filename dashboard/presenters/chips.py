"""States as chips: the words and the tone each state has on every page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from django.utils.html import format_html
from django.utils.safestring import SafeString

Tone = Literal["ok", "warn", "danger", "info", "quiet"]


@dataclass(frozen=True, slots=True)
class Chip:
    """A few words in a tone (the words carry the meaning, the tone only helps). Prints itself as
    `span.chip`.
    """

    label: str
    tone: Tone = "quiet"
    title: str = ""

    def __str__(self) -> SafeString:
        return _markup(self)


@lru_cache(maxsize=1_000)
def _markup(chip: Chip) -> SafeString:
    """A list shows the same few chips a hundred times."""
    if chip.title:
        return format_html('<span class="chip {}" title="{}">{}</span>', chip.tone, chip.title, chip.label)
    return format_html('<span class="chip {}">{}</span>', chip.tone, chip.label)


_PAUSED = Chip("Paused", "warn", "It waits until somebody says whether it goes on")
_RUN = {
    "running": Chip("Running", "info"),
    "completed": Chip("Completed", "ok"),
    "failed": Chip("Failed", "danger"),
    "interrupted": Chip("Interrupted", "warn"),
    "cancelled": Chip("Cancelled"),
}
_CAMPAIGN = {
    "pending": Chip("Waits for approval", "warn"),
    "returned": Chip("Returned", "info", "It waits for another version from whoever proposed it"),
    "approved": Chip("Approved, not started", "info"),
    "sending": Chip("Sending", "info"),
    "paused": _PAUSED,
    "finished": Chip("Finished", "ok"),
    "stopped": Chip("Stopped", "danger"),
    "rejected": Chip("Rejected"),
}
# Of a campaign that went through without everybody getting it.
WITH_PROBLEMS = Chip("Finished with problems", "warn", "It is in doubt or failed for some recipients")
_DELIVERY = {
    "planned": Chip("Planned"),
    "attempting": Chip("Being sent", "info"),
    "sent": Chip("Sent", "ok"),
    "failed": Chip("Failed", "danger"),
    "in_doubt": Chip("In doubt", "warn", "Nobody knows whether it arrived"),
    "skipped": Chip("Skipped"),
}
_JOB = {
    "held": Chip("Held", "info", "Waits out the time in which it can be taken back"),
    "queued": Chip("Queued", "info"),
    "running": Chip("Running", "info"),
    "done": Chip("Done", "ok"),
    "failed": Chip("Failed", "danger"),
    "in_doubt": Chip("In doubt", "warn", "Nobody knows whether it happened"),
    "cancelled": Chip("Taken back"),
    "paused": _PAUSED,
}
_CALL = {
    "open": Chip("No answer", "danger", "The call was made and no result was recorded; it may have happened"),
    "answered": Chip("Answered", "ok"),
    "failed": Chip("Failed", "danger", "The tool answered with an error"),
    "supplied": Chip(
        "Given from outside", "info", "Its result came from a person or another program, not from the tool"
    ),
    "rejected": Chip("Rejected", "quiet", "A person rejected it; the tool did not run"),
    "awaiting": Chip("Asks for confirmation", "warn", "The tool has not run; it waits for a person"),
    "aborted": Chip(
        "Aborted: unknown whether it happened", "danger", "Its client went away; it may have happened"
    ),
    "withdrawn": Chip(
        "No longer asked", "quiet", "It was answered elsewhere, or its session went on without it"
    ),
    "unknown": Chip("Not known", "danger", "The record does not say what became of it; it may have happened"),
}
_RECORD = {
    "none": Chip("No tool ran", "ok"),
    "called": Chip("Called tools", "warn"),
    "unknown": Chip(
        "Record unknown", "danger", "What it called cannot be known; unknown counts as “it did something”"
    ),
}
# Of a run that failed, in the words of its runtime, because somebody here stopped it.
STOPPED = Chip("Stopped by a person", "danger", "Its runtime then told that it was aborted")
# Of a record that counts as called, none of whose calls was made.
ASKED_ALONE = Chip(
    "Asked for tools", "warn", "Calls were asked for, or answered by a person; no tool is known to have run"
)
_PROVENANCE = {
    "reported": Chip("reported", "quiet", "The runtime told us"),
    "observed": Chip("observed", "quiet", "Read from the runtime's own store or stream"),
    "guarded": Chip("guarded", "quiet", "Claimed here before it happened"),
}
_DECISION = {
    "replay": Chip("Replay", "info"),
    "force_replay": Chip("Forced replay", "danger"),
    "declare_interrupted": Chip("Declared interrupted", "warn"),
    "dismiss": Chip("Dismissed"),
    "reopen": Chip("Reopened"),
    "resolve_run": Chip("Resolved", "info"),
    "replay_again": Chip("Resolved: replayed again", "info"),
    "answer_calls": Chip("Answered open calls", "info"),
    "confirm_call": Chip("Confirmed", "ok"),
    "reject_call": Chip("Rejected", "warn"),
    "stop_replay": Chip("Replay stopped", "danger"),
    "approve": Chip("Approved", "ok"),
    "reject": Chip("Rejected", "warn"),
    "return_campaign": Chip("Returned", "warn"),
    "new_version": Chip("New version", "info"),
    "pause_send": Chip("Sending paused", "warn"),
    "resolve_delivery": Chip("Resolved", "info"),
    "send_again": Chip("Resolved: sent again", "info"),
    "cancel_replay": Chip("Replay taken back"),
    "cancel_send": Chip("Approval taken back"),
    "stop": Chip("Stopped", "danger"),
    "resume_replay": Chip("Replay resumed", "info"),
    "resume_send": Chip("Sending resumed", "info"),
    "send_test": Chip("Test to oneself", "info"),
    "tell_again": Chip("Told again", "info"),
    "suppress": Chip("Suppressed", "warn"),
    "unsuppress": Chip("Released", "info"),
    "erased": Chip("Erased", "warn"),
    "restored": Chip("Restored", "warn"),
    "refused": Chip("Refused", "warn", "Somebody tried it and was refused; nothing was done"),
    "outcome": Chip("What came of it"),
    "log_verified": Chip("Log verified", "info"),
}
# What follows the number of the version that was decided on.
_OF_VERSION = {
    "approve": " approved",
    "reject": " rejected",
    "return_campaign": " returned",
    "new_version": " proposed",
    "stop": " stopped",
}
# What was refused, as a noun.
_TRIED = {
    "replay": "replay",
    "force_replay": "forced replay",
    "replay_again": "second replay",
    "answer_calls": "answer",
    "confirm_call": "confirmation",
    "reject_call": "rejection",
    "stop_replay": "stop",
    "declare_interrupted": "declared interruption",
    "dismiss": "dismissal",
    "reopen": "reopening",
    "resolve_run": "resolution",
    "resolve_delivery": "resolution",
    "send_again": "second sending",
    "approve": "approval",
    "reject": "rejection",
    "return_campaign": "return",
    "pause_send": "pause",
    "propose": "new campaign",
    "new_version": "new version",
    "cancel_replay": "withdrawal",
    "cancel_send": "withdrawal",
    "stop": "stop",
    "resume_replay": "resumption",
    "resume_send": "resumption",
    "send_test": "test",
    "runtime_added": "new runtime",
    "dataset_imported": "new list",
    "tell_again": "news told again",
    "suppress": "suppression",
    "unsuppress": "release",
    "runtime_changed": "change of a runtime",
    "workspace_held": "new way of sending",
}


# What the queue says of a lineage where that is not simply the state of a run, job, campaign or delivery.
_QUEUE = {
    "queued": Chip("Replay queued", "info"),
    "in_doubt": Chip("In doubt", "warn", "Nobody knows whether it happened"),
    "paused": _PAUSED,
    "replay_failed": Chip("Replay failed", "danger"),
    "awaiting": Chip("Tool call held", "warn", "It asks for a confirmation before it runs"),
    "dismissed": Chip("Dismissed"),
}


def _of(table: dict[str, Chip], state: str) -> Chip:
    """An unlisted state is shown in its own words rather than breaking the page that explains it."""
    return table.get(state) or Chip(state.replace("_", " ").capitalize() or "Not known")


def run_state(state: str) -> Chip:
    """The chip of a run's status."""
    return _of(_RUN, state)


def queue_state(kind: str, state: str) -> Chip:
    """The chip of a queue row: of a lineage (`run`) or a `campaign`."""
    return _of({**(_CAMPAIGN if kind == "campaign" else _RUN), **_QUEUE}, state)


def held(names: str) -> Chip:
    """The chip of a queue row whose run asks before it calls these tools."""
    chip = _QUEUE["awaiting"]
    return replace(chip, label=f"{chip.label}: {names}") if names else chip


def campaign_state(state: str) -> Chip:
    """The chip of a campaign's status."""
    return _of(_CAMPAIGN, state)


def delivery_state(state: str) -> Chip:
    """The chip of one delivery."""
    return _of(_DELIVERY, state)


def job_state(state: str) -> Chip:
    """The chip of a job."""
    return _of(_JOB, state)


def call_state(state: str) -> Chip:
    """The chip of a tool call."""
    return _of(_CALL, state)


def record_kind(kind: str) -> Chip:
    """The chip of a run's record: none, called, unknown. Also the risk chip of a run in the queue."""
    return _of(_RECORD, kind)


def provenance(kind: str) -> Chip:
    """How we know of an event: reported, observed, guarded."""
    return _of(_PROVENANCE, kind)


def tried(kind: str) -> str:
    """A kind of decision as the noun for what somebody tried."""
    return _TRIED.get(kind) or kind.replace("_", " ") or "decision"


def refused(kind: str) -> Chip:
    """The chip of an attempt at a decision of this kind that was refused; of any, where the kind was erased."""
    chip = _DECISION["refused"]
    return replace(chip, label=f"{chip.label}: {tried(kind)}") if kind else chip


def of_version(chip: Chip, kind: str, number: int) -> Chip:
    """The chip of a decision of this kind, with the version of its campaign that it is about."""
    what = _OF_VERSION.get(kind) or f": {chip.label[:1].lower()}{chip.label[1:]}"
    return replace(chip, label=f"Version {number:,}{what}")


def decision_kind(kind: str) -> Chip:
    """The chip of a decision in the log; set-up entries (`member_add`) read in their own words."""
    return _of(_DECISION, kind)
