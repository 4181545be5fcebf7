"""As in mutants.py, one safeguard taken out: those about runs that are read from a store, or streamed."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

from approvals.models import Job
from approvals.rules.turns import Attempt
from approvals.services import answers, handover, lineages, observing
from approvals.services import streaming as hearing
from approvals.tasks import streaming
from tests.machine.mutants import Lab, Mutant
from tests.machine.observed import Focus


def answers_what_nobody_asks(lab: Lab) -> None:
    """A request is answered, whatever became of it."""
    lab.patch.setattr(answers.in_place, "why_not_held", lambda kind, run, call: "")


def answers_an_attempt_that_is_over(lab: Lab) -> None:
    """A request is answered, though the run that its answer began has taken the place of the one that asked."""
    answers_what_nobody_asks(lab)
    lab.patch.setattr(lineages, "refuse_superseded", lambda case: None)


def forgets_to_withdraw(lab: Lab) -> None:
    """A request is held for open, though its session went on."""
    lab.patch.setattr(observing, "_withdraw", lambda *_: None)


def shares_the_session(lab: Lab) -> None:
    """A second run of ours begins in a session in which one is running."""
    lab.patch.setattr(handover, "_refuse_second_in_session", lambda run: None)


def believes_an_end_that_was_concluded(lab: Lab) -> None:
    """That a run called nothing is believed, though nobody saw its end."""
    lab.edit(
        "run_records",
        (
            "bool_or(e.type = 'ended' and e.origin <> 'inferred') as ended",
            "bool_or(e.type = 'ended') as ended",
        ),
    )


def believes_a_broken_history(lab: Lab) -> None:
    """Rows that were changed or deleted say nothing about what a run did."""
    lab.edit(
        "run_records",
        ("bool_or(e.origin = 'edited') as edited", "false as edited"),
        ("bool_or(e.origin = 'deleted') as deleted", "false as deleted"),
    )


def asks_again_after_a_call(lab: Lab) -> None:
    """A turn that was refused for a rate limit is asked for once more, though it had called a tool."""
    next_step = streaming.next_step

    def forgetful(attempts: Sequence[Attempt], *, repeatable: bool) -> Any:
        for attempt in attempts:
            attempt.called = False
        return next_step(attempts, repeatable=repeatable)

    lab.patch.setattr(streaming, "next_step", forgetful)


def keeps_what_it_heard_to_itself(lab: Lab) -> None:
    """A worker writes down what it hears, and leaves no row by which whoever reads the store would know."""
    lab.patch.setattr(hearing, "_store", lambda listening, rows: {row.event_id for row in rows})


def ends_what_a_worker_listens_to(lab: Lab) -> None:
    """Whoever reads the store concludes the end of a run, though a worker is still to hear it."""
    lab.patch.setattr(observing, "Job", SimpleNamespace(objects=Job.objects.none()))


# Where each of them does its harm, so that few examples find it.
_HELD = Focus(
    turns=("asks for a confirmation",),
    streams=("told",),
    acts=("an_agent_works", "the_store_is_read", "somebody_answers", "somebody_decides"),
    fates=("finish",),
)
_ANSWERED = Focus(
    turns=("asks for a confirmation", "comes to its proven end"),
    streams=("told",),
    acts=("the_store_is_read", "somebody_answers", "somebody_decides", "a_worker_is_woken"),
    fates=("finish",),
)
_SHARED = Focus(
    turns=("dies in its call",),
    streams=("told",),
    acts=("a_worker_is_woken", "somebody_answers"),
    fates=("freeze",),
    begins_with=2,
)
_CALLED = Focus(
    turns=("calls and is refused for a rate limit", "dies at once"),
    streams=("told",),
    acts=("a_worker_is_woken", "somebody_answers"),
    fates=("finish",),
)
_BOTH = Focus(  # a worker hears what the store shows as well
    turns=("dies in its call",),
    streams=("told late",),
    acts=("a_worker_is_woken", "somebody_answers", "the_store_is_read", "a_frozen_worker_comes_back"),
    fates=("finish", "freeze"),
)
_ENDED = Focus(
    turns=("fails", "comes to its proven end"),
    acts=("an_agent_works", "the_store_is_read"),
    fates=("finish",),
)


@dataclass(frozen=True)
class Observed(Mutant):
    """A mutant, and where to look for it."""

    focus: Focus = field(default_factory=Focus)


OBSERVED_MUTANTS = (
    Observed(
        answers_what_nobody_asks,
        ("a_held_call_is_answered_while_it_is_held", "one_answer_for_each_request"),
        focus=_HELD,
    ),
    Observed(
        answers_what_nobody_asks, ("a_held_call_is_answered_while_it_is_held",), alone=True, focus=_HELD
    ),
    Observed(answers_an_attempt_that_is_over, ("one_answer_for_each_request",), alone=True, focus=_ANSWERED),
    Observed(forgets_to_withdraw, ("nobody_waits_where_the_session_went_on",), focus=_HELD),
    Observed(shares_the_session, ("one_run_of_ours_a_session",), focus=_SHARED),
    Observed(believes_an_end_that_was_concluded, ("none_is_proven_and_true",), focus=_ENDED),
    Observed(believes_a_broken_history, ("none_is_proven_and_true",), focus=_ENDED),
    Observed(asks_again_after_a_call, ("nothing_is_asked_again_after_a_call",), focus=_CALLED),
    Observed(keeps_what_it_heard_to_itself, ("each_event_is_told_once",), focus=_BOTH),
    Observed(
        ends_what_a_worker_listens_to,
        ("a_worker_ends_what_it_listens_to",),
        focus=replace(_BOTH, turns=("fails",)),
    ),
)
