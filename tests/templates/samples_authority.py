"""Sample objects of *Who allowed this?*, and of the log's entries about refusals and outcomes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from approvals.rules.authority import Effect, Step
from approvals.selectors.authority import Found
from dashboard.forms.authority import Asked
from dashboard.presenters import chips
from dashboard.presenters.build_authority import authority_page
from dashboard.presenters.parts import DecisionLine
from dashboard.presenters.places import Places
from dashboard.presenters.text import reveal_line, summary_line
from tests.templates.samples import NOW, ago
from tests.templates.samples_more import LOG

_ID = UUID("7f3c1a52-6f0e-4d1f-9a57-4b8e5b1f0a11")
_PLACES = Places("northwind")


def _step(seq: int, kind: str, who: str, role: str, **ago: float) -> Step:
    return Step(_ID, seq, NOW - timedelta(**ago), kind, "member", who, (role,), "done", "")


_EFFECTS = (
    Effect(
        what="delivery", id=_ID, name="anna.lindqvist@example.org", state="sent", at=NOW - timedelta(hours=3),
        item_id=_ID, item="Winter schedule change", agent="outreach-writer",
        message_id="<7f3c1a52-6f0e-4d1f-9a57-4b8e5b1f0a11@northwind.example.com>",
        steps=(_step(41, "approve", "Mia Berg", "reviewer", hours=5), _step(57, "send_again", "Kim Both", "reviewer", hours=3)),
    ),
    Effect(
        what="delivery", id=_ID, name="anna.lindqvist@example.org", state="skipped", at=None, item_id=_ID,
        item="Summer survey", agent="outreach-writer", message_id="<short@x.example>", not_done="Not sent.",
        steps=(_step(11, "stop", "Mia Berg", "reviewer", days=30),),
    ),
    Effect(
        what="run", id=_ID, name="refund-8841", state="interrupted", at=NOW - timedelta(hours=7), item_id=_ID,
        item="refund-8841", agent="refund-assistant", nobody="original",
    ),
    Effect(
        what="call", id=_ID, name="send_email", state="answered", at=NOW - timedelta(hours=1), item_id=_ID,
        item="refund-8841", agent="refund-assistant", call_id="call-00000000000000000000000000000000000017", seq=7,
        nobody="late_replay", replay="refund-8841#2",
    ),
)  # fmt: skip
AUTHORITY = authority_page(
    Found(_EFFECTS, more=True), Asked("anna.lindqvist@example.org"), places=_PLACES, now=NOW
)
AUTHORITY_EMPTY = authority_page(
    Found((), more=False),
    Asked("refund-99", "Left out, because it could not be read: Search (it is longer than 400 characters)."),
    places=_PLACES,
    now=NOW,
)
LOG_REFUSED = replace(
    LOG,
    rows=(
        DecisionLine(
            chips.refused("force_replay"), "Mia Berg", "reviewer", ago(minutes=2), "/w/northwind/decisions/9/",
            reveal_line("refund-8841"), "/r/1",
            summary_line("Only members with the role support may force a run to start again; ask one of them to do it."),
        ),
        DecisionLine(
            chips.refused("replay"), "token sl_Ab3f…", "", ago(minutes=9), "/w/northwind/decisions/8/",
            reveal_line("refund-8841"), "/r/1",
            summary_line("This run does not start again by itself: An attempt of this run already called tools."),
        ),
        DecisionLine(
            chips.decision_kind("outcome"), "Secondlook", "", ago(minutes=31), "/w/northwind/decisions/7/",
            reveal_line("Winter schedule change"), "/c/1", summary_line("37 sent, 1 failed, 2 in doubt."),
            chips.job_state("done"),
        ),
        *LOG.rows,
    ),
)  # fmt: skip
