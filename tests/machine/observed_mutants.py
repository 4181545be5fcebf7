"""As in mutants.py, one safeguard taken out: those about runs that are read from a store, or streamed."""

from dataclasses import dataclass, field

from approvals.services import answers, handover, observing
from tests.machine.mutants import Lab, Mutant
from tests.machine.observed import Focus


def answers_what_nobody_asks(lab: Lab) -> None:
    """A request is answered, whatever became of it."""
    lab.patch.setattr(answers.in_place, "why_not_held", lambda kind, run, call: "")


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


# Where each of them does its harm, so that few examples find it.
_HELD = Focus(
    turns=("asks for a confirmation",),
    streams=("told",),
    acts=("an_agent_works", "the_store_is_read", "somebody_answers", "somebody_decides"),
    fates=("finish",),
)
_SHARED = Focus(
    turns=("dies in its call",),
    streams=("told",),
    acts=("a_worker_is_woken", "somebody_answers"),
    fates=("freeze",),
    begins_with=2,
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
        _HELD,
    ),
    Observed(forgets_to_withdraw, ("nobody_waits_where_the_session_went_on",), _HELD),
    Observed(shares_the_session, ("one_run_of_ours_a_session",), _SHARED),
    Observed(believes_an_end_that_was_concluded, ("none_is_proven_and_true",), _ENDED),
    Observed(believes_a_broken_history, ("none_is_proven_and_true",), _ENDED),
)
