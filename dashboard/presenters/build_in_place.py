"""Filling the forms by which a run goes on in place: the answers to its open calls, and to a held one."""

from uuid import UUID

from approvals.rules.in_place import KIND, Said, held, hint_of, unanswered, why_no_answers, why_not_held
from approvals.rules.verdict import CallFacts
from approvals.selectors.run_pages import OpenedRun
from dashboard.presenters import chips
from dashboard.presenters.acts import AnswerAct, AnsweredCall, HeldAct
from dashboard.presenters.build_timeline import anchors_of
from dashboard.presenters.hand import Hand
from dashboard.presenters.parts import NOTHING
from dashboard.presenters.text import listed, plain, reveal, summary_line

_SAID = {"happened": True, "did_not_happen": False}


def answer_act(opened: OpenedRun, hand: Hand, shown: str) -> AnswerAct | None:
    """The form for every open call, with what somebody said of each before; None where they cannot be answered."""
    if why_no_answers(opened.run.kind, opened.own):
        return None
    base = hand.reason_act("run_answer_calls", opened.run.id, permission="answer_calls", shown=shown)
    sent = hand.tried.of("run_answer_calls")
    anchors = anchors_of(opened)
    return AnswerAct(
        action=base.action,
        shown=base.shown,
        next=base.next,
        refused=base.refused,
        reason=base.reason,
        reason_error=base.reason_error,
        answers_error=sent.error_at("answers"),
        calls=tuple(
            _answered(number, call, opened, anchors.get(call.call_id, ""), sent.said.get(call.call_id))
            for number, call in enumerate(unanswered(opened.own), start=1)
        ),
    )


def _answered(
    number: int, call: CallFacts, opened: OpenedRun, anchor: str, typed: Said | None
) -> AnsweredCall:
    before = opened.answers.get((UUID(call.run_id), call.call_id))
    known = _SAID.get(before.resolution) if before else None
    said = typed or Said(happened=known)
    return AnsweredCall(
        number=number,
        value=call.call_id,
        name=summary_line(call.name or "a tool", 80),
        args=summary_line(call.args_summary, 300),
        state=chips.call_state(call.state),
        anchor=anchor,
        note=summary_line(before.words, 400) if before else NOTHING,
        happened=said.happened,
        result=said.result,
        receipt=said.receipt,
    )


def held_acts(opened: OpenedRun, hand: Hand, shown: str) -> tuple[HeldAct, ...]:
    """The two forms of each held call."""
    if opened.run.kind != KIND:
        return ()
    anchors, calls = anchors_of(opened), held(opened.own)
    return tuple(
        HeldAct(
            target=call.call_id,
            name=summary_line(call.name or "a tool", 80),
            args=summary_line(call.args_summary, 300),
            hint=reveal(hint_of(opened.asked.get(call.call_id, {}).get("hint"))),
            anchor=anchors.get(call.call_id, ""),
            confirm=hand.reason_act(
                "run_confirm_call",
                opened.run.id,
                permission="confirm_call",
                shown=shown,
                part=call.call_id,
            ),
            reject=hand.reason_act(
                "run_reject_call",
                opened.run.id,
                permission="reject_call",
                shown=shown,
                part=call.call_id,
            ),
            others=_others(call, calls),
            why_not=_why_not(call, opened),
        )
        for call in calls
    )


def _others(call: CallFacts, calls: tuple[CallFacts, ...]) -> str:
    names = listed([plain(other.name or "a tool") for other in calls if other is not call])
    return f"This answers this call alone; the session then goes on without {names}." if names else ""


def _why_not(call: CallFacts, opened: OpenedRun) -> str:
    if call.call_id not in opened.asked:
        return "What was asked for this call is not known any more, so it cannot be answered here. Answer it in ADK."
    return why_not_held(opened.run.kind, opened.own, call)
