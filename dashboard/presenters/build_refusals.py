"""Filling the pages that say no."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from approvals.exceptions import DECIDED, AlreadyDecided, Refusal, Stale
from dashboard.presenters import chips
from dashboard.presenters.ages import when
from dashboard.presenters.parts import Fact, Link
from dashboard.presenters.refusals import DecidedPage, RefusedPage, StalePage
from dashboard.presenters.text import plain, reveal, reveal_line, summary_line

# What somebody was about to do at an address; completes "You were about to ... it".
TRIED = {
    ("runs", "replay"): "replay",
    ("runs", "force"): "force a replay of",
    ("runs", "declare-interrupted"): "declare the interruption of",
    ("runs", "dismiss"): "dismiss",
    ("runs", "reopen"): "reopen",
    ("runs", "resolve-call"): "resolve a call of",
    ("runs", "answer-calls"): "answer the open calls of",
    ("runs", "confirm-call"): "confirm a tool call of",
    ("runs", "reject-call"): "reject a tool call of",
    ("jobs", "stop"): "stop the replay of",
    ("jobs", "cancel"): "take back the replay of",
    ("jobs", "resolve"): "resolve",
    ("jobs", "resume"): "resume the replay of",
    ("jobs", "resume-send"): "resume the sending of",
    ("jobs", "give-up"): "take back what is paused of",
    ("campaigns", "approve"): "approve",
    ("campaigns", "reject"): "reject",
    ("campaigns", "return"): "return",
    ("campaigns", "pause"): "pause",
    ("campaigns", "go-on"): "resume the sending of",
    ("campaigns", "take-back"): "take back the approval of",
    ("campaigns", "stop"): "stop",
    ("campaigns", "new-version"): "propose another version of",
    ("deliveries", "resolve"): "resolve a delivery of",
}
_TITLES = {
    400: "We could not read that request",
    403: "This is not yours to do",
    409: "Not possible now",
    422: "Something is missing or not right",
    503: "Not available right now",
}


@dataclass(frozen=True, slots=True)
class Scene:
    """Where somebody was refused: what they tried on which item, what they had typed, and the ways on.

    `reader` is the id of whoever reads this.
    `stands` is the state of the item now, in words; `opened` is when they opened the page.
    """

    queue_url: str
    reader: str = ""
    tried: str = ""
    title: str = ""
    url: str = ""
    typed: str = ""
    stands: str = ""
    opened: datetime | None = None
    next: Link | None = None

    @property
    def about(self) -> Link:
        """The item."""
        return Link(summary_line(self.title or "this", 100), self.url or self.queue_url)


def decided_page(refusal: AlreadyDecided, scene: Scene, now: datetime) -> DecidedPage:
    """The loser's screen."""
    on = [Link("See how it stands", scene.url)] if scene.url else []
    on += [scene.next] if scene.next else []
    return DecidedPage(
        who=plain(refusal.who),
        did=DECIDED.get(refusal.what, "decided this"),
        what=chips.decision_kind(refusal.what),
        at=when(refusal.when, now),
        about=scene.about,
        reason=reveal(refusal.why),
        tried=f"{scene.tried or 'decide on'} it",
        yours=bool(scene.reader) and refusal.who_id == scene.reader,
        typed=scene.typed,
        now=f"Where it stands now: {scene.stands}." if scene.stands else "",
        on=(*on, Link("Back to the queue", scene.queue_url)),
    )


def stale_page(refusal: Stale, scene: Scene, now: datetime) -> StalePage:
    """It changed since they looked."""
    return StalePage(
        about=scene.about,
        tried=scene.tried or "decide on",
        opened=when(scene.opened, now) if scene.opened else None,
        changes=tuple(reveal_line(change) for change in refusal.changed),
        typed=scene.typed,
        reload_url=scene.url or scene.queue_url,
    )


def refused_page(refusal: Refusal, scene: Scene, roles: Sequence[str]) -> RefusedPage:
    """Any other refusal."""
    facts = [Fact("Your roles", ", ".join(roles))] if refusal.status == 403 and roles else []
    on = [Link("Back to where you were", scene.url)] if scene.url else []
    return RefusedPage(
        title=_TITLES.get(refusal.status, "That was refused"),
        text=refusal.text,
        code=refusal.code,
        facts=tuple(facts),
        typed=scene.typed,
        on=(*on, Link("Back to the queue", scene.queue_url)),
    )


def signed_out_page(*, sign_in_url: str, typed: str) -> RefusedPage:
    """Somebody decided after they were signed out: nothing happened, and their text is kept."""
    return RefusedPage(
        title="You are signed out",
        text="Nothing was done. Sign in, open the page again, and decide once more.",
        code="signed_out",
        typed=typed,
        on=(Link("Sign in", sign_in_url),),
    )
