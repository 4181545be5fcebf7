"""Sample pages of runs of an ADK runtime: one that failed with an open call, and one that asks a person."""

from __future__ import annotations

from dataclasses import replace

from dashboard.presenters import chips
from dashboard.presenters.acts import Act, AnswerAct, AnsweredCall, HeldAct, ReasonAct
from dashboard.presenters.parts import Link, Note
from dashboard.presenters.runs import Claim, ClaimedCall, ErrorBox, RunActs, Way
from dashboard.presenters.text import reveal, reveal_line
from tests.templates.samples import HOSTILE, ago
from tests.templates.samples_run import ACT, FORCE, JOB, RUN, VERDICT

ARGS = reveal_line('{"to": "anna.lindqvist@example.org", "subject": "Your refund", …}')
ANSWER = AnswerAct(
    **ACT,
    reason="too short",
    reason_error="Give a reason of at least 10 characters, so that others can follow it.",
    answers_error="Say of each open call whether it happened: add_note.",
    calls=(
        AnsweredCall(
            number=1,
            value="adk-1",
            name=reveal_line("send_email"),
            args=ARGS,
            state=chips.call_state("open"),
            anchor="call-2",
            note=reveal_line("Ada: it happened. “The server has it.”"),
            happened=True,
            result='{"status": "sent"}',
            receipt="smtp-9",
        ),
        AnsweredCall(
            number=2,
            value="adk-2",
            name=reveal_line(HOSTILE),
            args=reveal_line(HOSTILE),
            state=chips.call_state("aborted"),
        ),
    ),
)
FRESH = Way(
    title="Start in a fresh session with the last message",
    forecast=(
        "ADK starts a new session with the message that began this run.",
        "The old conversation is not known to its agent.",
        "No answer is taken over: send_email may be called again.",
    ),
    link=Link("Start in a fresh session…", "#force"),
    danger=True,
)
RUN_ADK = replace(
    RUN,
    verdict=replace(
        VERDICT,
        notes=(
            Note("Asked again after this run broke off:", Link(reveal_line("support/u1/s-1/e-2"), "/"), ", which completed."),
        ),
    ),
    claim=Claim(
        "Tools were called; events or the end are missing, so there may be more calls.",
        calls=(
            ClaimedCall(reveal_line("look_up_booking ×3"), chips.call_state("answered"), "call-1"),
            ClaimedCall(reveal_line(HOSTILE), chips.call_state("aborted")),
        ),
        more="And 2 more kinds of calls below.",
        last_words=reveal(HOSTILE),
        at=ago(hours=6),
    ),
    error=ErrorBox(
        title="It failed",
        text=reveal_line("The model's provider refused a request because of its rate limit."),
        code=reveal_line("rate_limited"),
        completed=(reveal_line("look_up_booking"), reveal_line(HOSTILE)),
        open=(),
    ),
    ways=(
        Way(
            title="Answer the open calls",
            forecast=("You say of each open call whether it happened, and ADK goes on in place.",),
            link=Link("Answer the open calls…", "#answer"),
        ),
        FRESH,
        Way(title="Dismiss it", forecast=(), why_not="It is still running."),
        Way(title="Start at once", forecast=("It is queued.",), act=Act(**ACT)),
        Way(title="Another", forecast=("Nothing.",), refused="Only members with the role support may."),
    ),
    acts=RunActs(answer=ANSWER, force=replace(FORCE, fresh=True), dismiss=ReasonAct(**ACT), stop=Act(**ACT)),
    job=replace(JOB, stoppable=True),
)  # fmt: skip
RUN_HELD = replace(
    RUN,
    state=chips.held(""),
    ways=(FRESH,),
    acts=RunActs(
        held=(
            HeldAct(
                target="adk-1",
                name=reveal_line("send_email"),
                args=ARGS,
                hint=reveal("Please approve or reject the tool call send_email()."),
                anchor="call-2",
                confirm=ReasonAct(**ACT),
                reject=ReasonAct(**ACT, reason="no", reason_error="Give a reason of at least 10 characters."),
                others="This answers this call alone; the session then goes on without add_note.",
            ),
            HeldAct(
                target="adk-2",
                name=reveal_line(HOSTILE),
                args=reveal_line(HOSTILE),
                hint=reveal(HOSTILE),
                anchor="",
                confirm=ReasonAct(**ACT),
                reject=ReasonAct(**ACT),
                why_not="Part of its history was edited, so nobody knows what its agent would go on from.",
            ),
        )
    ),
)
