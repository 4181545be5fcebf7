"""Filling the decisions that a run allows now: what its state leaves open, and for each whether this member may."""

from dataclasses import replace
from uuid import UUID

from approvals.rules.call_words import what_came
from approvals.rules.decisions import UNKNOWN_ACKNOWLEDGED, call_key, told
from approvals.rules.in_place import KIND, unanswered
from approvals.rules.verdict import OVERRIDABLE, CallFacts, forceable
from approvals.selectors.run_pages import OpenedRun
from dashboard.forms.shown import pack
from dashboard.presenters import chips
from dashboard.presenters.acts import Acknowledged, ForceAct, ResolveAct
from dashboard.presenters.build_in_place import answer_act, held_acts
from dashboard.presenters.build_timeline import anchors_of
from dashboard.presenters.hand import Hand
from dashboard.presenters.parts import Link
from dashboard.presenters.places import Places
from dashboard.presenters.runs import RunActs
from dashboard.presenters.text import plain, plural, reveal_line, summary_line

ON_ITS_WAY = "A replay is on its way. Until it ends there is nothing else to decide."
ASKED_AT_ONCE = 50  # calls; one form for each of thousands would be a page of many megabytes
_FURTHER = ("succeeded", "late_events", "restored")  # reasons that no call or sentence stands for
_OF_CALLS = ("happened", "did_not_happen", "leave")
_OF_JOBS = ("happened", "do_again", "leave")
_OF_JOBS_IN_PLACE = ("happened", "did_not_happen", "leave")


def run_acts(opened: OpenedRun, hand: Hand, places: Places) -> RunActs:
    """The forms of the page."""
    acts = _acts(opened, hand, places)
    job = opened.progress
    if job is not None and job.stoppable:
        shown = _shown(opened, hand, job.id)
        acts = replace(acts, stop=hand.act("job_stop", job.id, permission="stop_replay", shown=shown))
    more = len(_unanswered(opened)) - ASKED_AT_ONCE
    if not acts.resolve or more <= 0:
        return acts
    note = f"{plural(more, 'more call')} without an answer; settle these first."
    return replace(acts, resolve_note=note)


def _acts(opened: OpenedRun, hand: Hand, places: Places) -> RunActs:
    run, job = opened.run, opened.progress
    shown = _shown(opened, hand, run.id)
    cancel = None
    resolve = _open_calls(opened, hand, shown)
    if job is not None:
        about_job = _shown(opened, hand, job.id)
        if job.cancellable:
            cancel = hand.act("job_cancel", job.id, permission="cancel_replay", shown=about_job)
        if job.status == "in_doubt":
            asked = hand.resolve_act(
                "job_resolve",
                job.id,
                permission="resolve_run",
                shown=about_job,
                about=reveal_line("the replay"),
                choices=_OF_JOBS_IN_PLACE if job.in_place else _OF_JOBS,
            )
            resolve = (asked, *resolve)
    if job is not None and job.status == "paused":
        resume = hand.act("job_resume", job.id, permission="resume_replay", shown=about_job)
        return RunActs(cancel=cancel, resolve=resolve, resume=resume, closed=plain(job.outcome))
    if job is not None and (job.moving or job.status == "in_doubt") and job.accepted_at is None:
        closed = "Settle first whether the replay began." if job.status == "in_doubt" else ON_ITS_WAY
        return RunActs(cancel=cancel, resolve=resolve, closed=closed)
    if not opened.own.is_head:
        return RunActs(
            resolve=resolve,
            closed="This replay never began."
            if run.started_at is None
            else "A later attempt took the place of this run.",
            closed_link=Link(
                summary_line(f"Go to {opened.head.external_id}", 100), places.run(opened.head.id)
            ),
        )
    return _of_head(opened, hand, shown, resolve)


def _of_head(opened: OpenedRun, hand: Hand, shown: str, resolve: tuple[ResolveAct, ...]) -> RunActs:
    """The attempt that counts, with no job in the way."""
    run = opened.run
    if run.status == "running":
        if opened.progress is not None and opened.progress.stoppable:
            return RunActs(closed="It goes on, and needs no decision while it does. It can be stopped.")
        declare = hand.reason_act(
            "run_declare_interrupted", run.id, permission="declare_interrupted", shown=shown
        )
        return RunActs(declare=declare, closed="It is running. It needs no decision while it does.")
    if "replay_in_flight" in opened.verdict.codes:
        return RunActs(resolve=resolve, closed=ON_ITS_WAY)
    if run.dismissed_at is not None:
        reopen = hand.reason_act("run_reopen", run.id, permission="reopen", shown=shown)
        return RunActs(
            reopen=reopen, resolve=resolve, closed="It was dismissed. Reopen it to start it again."
        )
    return _to_decide(opened, hand, shown, resolve)


def _to_decide(opened: OpenedRun, hand: Hand, shown: str, resolve: tuple[ResolveAct, ...]) -> RunActs:
    """The attempt that counts, which is over: every way to go on."""
    run, verdict = opened.run, opened.verdict
    dismiss = None
    if run.status in ("interrupted", "failed"):
        dismiss = hand.reason_act("run_dismiss", run.id, permission="dismiss", shown=shown)
    answer = answer_act(opened, hand, shown)
    acts = RunActs(
        dismiss=dismiss,
        resolve=tuple(_folded(act) for act in resolve) if answer else resolve,
        answer=answer,
        held=held_acts(opened, hand, shown),
    )
    if verdict.may_start_again:
        return replace(acts, replay=hand.act("run_replay", run.id, permission="replay", shown=shown))
    if forceable(verdict):
        done = run.status == "completed" and not acts.held
        closed = "It completed; nothing waits for a decision." if done else ""
        return replace(acts, force=_force(opened, hand, shown), closed=closed)
    blocking = " ".join(reason.text for reason in verdict.reasons if reason.code not in OVERRIDABLE)
    return replace(acts, closed=blocking)


def _folded(act: ResolveAct) -> ResolveAct:
    """Beside the form that answers every call and goes on, saying it without going on is the exception."""
    return replace(act, open=bool(act.reason_error or act.resolution_error))


def _shown(opened: OpenedRun, hand: Hand, target: UUID) -> str:
    return pack(target=target, user_id=hand.actor.id, digest=opened.digest, told=told(opened.facts))


def _open_calls(opened: OpenedRun, hand: Hand, shown: str) -> tuple[ResolveAct, ...]:
    """A form for each call without an answer, folded where somebody gave one. Nothing while it runs.

    At most ASKED_AT_ONCE, those that nobody answered first: each answer makes room for the next.
    """
    anchors = anchors_of(opened)
    return tuple(
        replace(
            hand.resolve_act(
                "run_resolve_call",
                opened.run.id,
                permission="resolve_run",
                shown=shown,
                about=summary_line(call.name, 80),
                choices=_OF_CALLS,
                part=call.call_id,
                settled=(opened.run.id, call.call_id) in opened.answers,
            ),
            args=summary_line(call.args_summary, 200),
            anchor=anchors.get(call.call_id, ""),
        )
        for call in _unanswered(opened)[:ASKED_AT_ONCE]
    )


def _unanswered(opened: OpenedRun) -> list[CallFacts]:
    """The calls that a person may know more about, those that nobody said anything about first."""
    if opened.run.status == "running":
        return []
    return sorted(unanswered(opened.own), key=lambda call: (opened.run.id, call.call_id) in opened.answers)


def _force(opened: OpenedRun, hand: Hand, shown: str) -> ForceAct:
    """The forced replay, with every call of the verdict to acknowledge."""
    sent = hand.tried.of("run_force")
    base = hand.reason_act("run_force", opened.run.id, permission="force_replay", shown=shown)
    anchors = anchors_of(opened)
    codes = opened.verdict.codes
    return ForceAct(
        action=base.action,
        shown=base.shown,
        next=base.next,
        refused=base.refused,
        reason=base.reason,
        reason_error=base.reason_error,
        fresh=opened.run.kind == KIND,
        calls=tuple(_acknowledged(call, opened, anchors, sent.ticked) for call in opened.verdict.calls),
        sentence=UNKNOWN_ACKNOWLEDGED if "unknown_record" in codes else "",
        sentence_ticked=sent.unknown_ticked,
        others=tuple(reason.text for reason in opened.verdict.reasons if reason.code in _FURTHER),
        ack_error=sent.error_at("ack", "ack_unknown"),
    )


def _acknowledged(
    call: CallFacts, opened: OpenedRun, anchors: dict[str, str], ticked: frozenset[str]
) -> Acknowledged:
    key = call_key(call.run_id, call.call_id)
    here = call.run_id == opened.own.id
    names = {fact.id: fact.external_id for fact in opened.facts}
    answer = opened.answers.get((UUID(call.run_id), call.call_id))
    notes = [] if here else [f"in {plain(names[call.run_id])}"]
    notes += [f"{plain(answer.who)}: {answer.meaning}"] if answer else []
    return Acknowledged(
        value=key,
        name=summary_line(call.name, 80),
        args=summary_line(call.args_summary, 200),
        state=chips.call_state(call.state),
        came=what_came(call.state),
        anchor=anchors.get(call.call_id, "") if here else "",
        attempt="; ".join(notes),
        ticked=key in ticked,
    )
