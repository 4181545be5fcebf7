"""The product with one of its safeguards taken out: in Python, or by SQL in the test's own database.

Each is named for what is wrong with it, and says which laws have to notice. Where another guard of the database would
stop the mutant's harm (it mostly does: most safeguards are two), that guard is taken out with it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from django.db import connection, transaction

from approvals.models import Delivery, Job
from approvals.selectors import lineages as lineage_reads
from approvals.services import deliveries, handover, jobs, lineages, replays, rounds, runs
from tests.machine import scene
from tests.machine.machine import Machine


@dataclass
class Lab:
    """What a mutation is made with."""

    patch: pytest.MonkeyPatch
    owner: psycopg.Connection[Any]

    def edit(self, function: str, *changes: tuple[str, str]) -> None:
        """Write one of the database's functions anew, some of its words replaced."""
        [row] = self.owner.execute("select pg_get_functiondef(%s::regproc)", [function]).fetchall()
        text = str(row[0])
        for old, new in changes:
            assert old in text, f"{function} has no {old!r} any more"
            text = text.replace(old, new)
        self.owner.execute(text.encode())


def drops_the_fence(lab: Lab) -> None:
    """Whoever once held a job settles it, however long ago the lease was lost."""

    def update(held: jobs.Claim, assignments: str, condition: str, *values: Any) -> bool:
        with connection.cursor() as cursor:
            cursor.execute(f"update approvals_job set {assignments} where id = %s", [*values, held.job_id])
            return bool(cursor.rowcount == 1)

    lab.patch.setattr(jobs, "_update", update)


def drops_the_fence_of_deliveries(lab: Lab) -> None:
    """A message is settled by whoever sent it, even when it is in doubt already."""

    settle_and_open = rounds.settle_and_open

    def unfenced(
        held: jobs.Claim, sealed: Any, endings: Sequence[rounds.Ending], wanted: Any, *more: Any
    ) -> Any:
        with transaction.atomic():
            for one in endings:
                Delivery.objects.filter(id=one.delivery_id).update(state=one.state, reply=one.reply)
        ours, _, opened = settle_and_open(held, sealed, [], wanted, *more)
        return ours, frozenset(one.delivery_id for one in endings), opened

    lab.patch.setattr(rounds, "settle_and_open", unfenced)


def settles_a_time_out_as_done(lab: Lab) -> None:
    """A runtime that did not answer in time is held to have done it."""
    settle = handover.settle

    @transaction.atomic
    def settled(*, held: jobs.Claim, kind: str, detail: str) -> bool:
        return (
            jobs.finish(held, "done", detail)
            if kind == "in_doubt"
            else settle(held=held, kind=kind, detail=detail)
        )

    lab.patch.setattr(handover, "settle", settled)


def settles_a_time_out_as_refused(lab: Lab) -> None:
    """A runtime that did not answer in time is held to have done nothing."""
    settle = handover.settle
    lab.patch.setattr(
        handover,
        "settle",
        lambda *, held, kind, detail: settle(
            held=held, kind="refused" if kind == "in_doubt" else kind, detail=detail
        ),
    )


def settles_a_time_out_as_sent(lab: Lab) -> None:
    """A message whose connection broke after the dot is held to be there."""
    settle_and_open = rounds.settle_and_open

    def hopeful(
        held: jobs.Claim, sealed: Any, endings: Sequence[rounds.Ending], wanted: Any, *more: Any
    ) -> Any:
        said = [replace(one, state="sent" if one.state == "in_doubt" else one.state) for one in endings]
        return settle_and_open(held, sealed, said, wanted, *more)

    lab.patch.setattr(rounds, "settle_and_open", hopeful)


def skips_the_lineage(lab: Lab) -> None:
    """The verdict looks at one attempt and at none of the others."""
    verdict_of = lineage_reads.verdict_of
    lab.patch.setattr(
        lineage_reads,
        "verdict_of",
        lambda facts, target: verdict_of([fact for fact in facts if fact.id == target], target),
    )


def trusts_a_late_none(lab: Lab) -> None:
    """That a run did nothing is believed, though it was said after it had been given up."""
    verdict_of = lineage_reads.verdict_of
    lab.patch.setattr(
        lineage_reads,
        "verdict_of",
        lambda facts, target: verdict_of([replace(fact, late_events=0) for fact in facts], target),
    )


def forgets_that_an_event_is_late(lab: Lab) -> None:
    """No event is ever late."""
    lab.edit("event_received", ("new.received_at :=", "new.late := false; new.received_at :="))


def claims_whatever_is_there(lab: Lab) -> None:
    """A wake-up that comes twice gets the job twice."""

    @transaction.atomic
    def claim(*, job_id: Any, task_id: str) -> jobs.Claim | None:
        with connection.cursor() as cursor:
            cursor.execute(
                "update approvals_job set status = 'running', fence = fence + 1, task_id = %s, intent_at = null,"
                " claimed_at = clock_timestamp(), lease_until = clock_timestamp() + %s where id = %s"
                " returning id, fence, kind, run_id, campaign_id, version_id, delivery_id",
                [task_id, jobs._lease(), job_id],
            )
            return jobs.Claim(*cursor.fetchone())

    lab.patch.setattr(jobs, "claim", claim)


def queues_again_after_the_intent(lab: Lab) -> None:
    """A lost worker's replay is simply tried again."""
    lab.owner.execute("drop trigger job_intent_is_kept on approvals_job")

    def queued(job: Job, status: str, outcome: str) -> str:
        Job.objects.filter(id=job.id).update(
            status="queued", outcome=outcome, lease_until=None, intent_at=None, finished_at=None
        )
        return "queued"

    lab.patch.setattr(jobs, "_set", queued)


def sends_again_after_the_intent(lab: Lab) -> None:
    """A lost worker's message is simply sent again."""

    def expired(job: Job) -> str:
        Delivery.objects.filter(job_id=job.id, state="attempting").update(state="planned")
        return jobs._set(job, "queued", "Tried again.")

    lab.patch.setattr(jobs, "_expire_send", expired)


def writes_the_intent_down_later(lab: Lab) -> None:
    """The runtime is asked first."""
    lab.patch.setattr(jobs, "state_intent", jobs.is_ours)


def hands_over_what_has_changed(lab: Lab) -> None:
    """The worker does not look again at what the decision was about."""
    judged = handover.judged

    def decided(run: Any, *, without: Any) -> Any:
        facts, verdict, _ = judged(run, without=without)
        return facts, verdict, Job.objects.values_list("decision__digest", flat=True).get(run_id=without)

    lab.patch.setattr(handover, "judged", decided)


def accepts_an_old_page(lab: Lab) -> None:
    """Decisions about a run are taken, whatever has happened since the page was opened."""
    lab.patch.setattr(lineages, "refuse_stale", lambda case, shown: None)


def does_again_without_a_decision(lab: Lab) -> None:
    """'Do it again' makes a job for no decision that releases anything."""
    record = replays.decisions.record
    lab.patch.setattr(
        replays.decisions,
        "record",
        lambda *, kind, **given: record(kind="resolve_run" if kind == "replay_again" else kind, **given),
    )
    lab.edit("one_job_per_release", ("begin\n", "begin return null;\n"))


def sends_again_for_no_decision(lab: Lab) -> None:
    """'Send it again' makes a second job for the decision that there was."""

    def release(delivery: Delivery) -> Any:
        Delivery.objects.filter(id=delivery.id).update(state="planned", reply="", settled_at=None)
        Job.objects.create(
            workspace_id=delivery.workspace_id, decision_id=uuid4(), kind="send", status="queued",
            campaign_id=delivery.campaign_id, version_id=delivery.version_id, delivery_id=delivery.id,
        )  # fmt: skip
        return uuid4()

    lab.patch.setattr(deliveries, "_release_again", release)
    lab.edit("one_job_per_release", ("begin\n", "begin return null;\n"))
    lab.owner.execute("alter table approvals_job drop constraint job_decision_same_workspace")


def starts_two_at_once(lab: Lab) -> None:
    """A replay that is under way does not keep another one from starting."""
    verdict_of = lineage_reads.verdict_of

    def blind(facts: Any, target: str) -> Any:
        idle = [
            replace(f, status="interrupted") if f.id != target and f.status == "running" else f for f in facts
        ]
        return verdict_of(idle, target)

    lab.patch.setattr(lineage_reads, "verdict_of", blind)
    lab.owner.execute("drop index run_one_active_per_lineage")


def forgets_the_run_of_a_refused_replay(lab: Lab) -> None:
    """A refused replay leaves its run behind, about to start for ever."""
    lab.patch.setattr(runs, "never_began", lambda run: None)


def stops_and_leaves_the_rest(lab: Lab) -> None:
    """A stop ends the job, and forgets those who were not written to yet."""
    lab.edit(
        "refuse_step_of_delivery",
        ("begin\n", "begin\n  if new.state = 'skipped' then return old; end if;\n"),
    )


def rewrites_a_settled_record(lab: Lab) -> None:
    """What comes late is written into the record."""
    lab.edit(
        "tools_executed_write_once",
        ("begin\n", "begin\n if old.settled_at is not null and new.max_seq > old.max_seq then"
         " new.settled_at := clock_timestamp(); end if; return new;\n"),
    )  # fmt: skip


def reopens_what_is_over(lab: Lab) -> None:
    """A run that failed is interrupted again by a late end."""
    lab.edit("journal_advanced", ("if run.status = 'running' or", "if run.status <> 'cancelled' or"))
    lab.edit("transition_allowed", ("('run','running','completed')",
             "('run','failed','completed'), ('run','completed','failed'), ('run','failed','cancelled'),"
             " ('run','completed','cancelled'), ('run','running','completed')"))  # fmt: skip


def forgets_to_move_the_queue(lab: Lab) -> None:
    """A job that moves leaves its lineage where it stood on the queue."""
    lab.owner.execute("drop trigger job_moved on approvals_job")


def breaks_the_chain(lab: Lab) -> None:
    """An entry does not cite the one before it."""
    lab.edit("decision_chained", ("coalesce(head.hash, ''::bytea)", "''::bytea"))


@dataclass(frozen=True)
class Mutant:
    """A mutation, and the laws of which one has to notice. `alone`: no other law is asked, though more would.

    `machine` is where it shows; one that tells few stories, where it would show too seldom in all of them.
    """

    mutate: Callable[[Lab], None]
    noticed_by: tuple[str, ...]
    alone: bool = False
    machine: Callable[[scene.Lab], scene.Scene] = Machine


MUTANTS = (
    Mutant(
        drops_the_fence,
        (
            "a_handover_needs_a_decision",
            "what_is_over_stays",
            "a_doubt_waits_for_somebody",
            "the_outside_is_known",
            "an_intent_comes_first",
        ),
    ),
    Mutant(
        drops_the_fence_of_deliveries,
        ("a_doubt_waits_for_somebody", "what_is_over_stays", "a_message_needs_a_person"),
    ),
    Mutant(drops_the_fence_of_deliveries, ("a_doubt_waits_for_somebody",), alone=True),
    Mutant(settles_a_time_out_as_done, ("a_job_ends_or_has_a_way_on",)),
    Mutant(settles_a_time_out_as_refused, ("the_outside_is_known", "a_job_ends_or_has_a_way_on")),
    Mutant(settles_a_time_out_as_sent, ("the_outside_is_known",)),
    Mutant(skips_the_lineage, ("only_the_provably_empty_starts_without_force",)),
    Mutant(trusts_a_late_none, ("only_the_provably_empty_starts_without_force",)),
    Mutant(forgets_that_an_event_is_late, ("a_late_event_is_late",)),
    Mutant(claims_whatever_is_there, ("a_handover_needs_a_decision", "a_delivery_goes_on")),
    Mutant(queues_again_after_the_intent, ("a_handover_needs_a_decision",)),
    Mutant(sends_again_after_the_intent, ("a_message_needs_a_person", "the_outside_is_known")),
    Mutant(sends_again_after_the_intent, ("a_message_needs_a_person",), alone=True),
    Mutant(writes_the_intent_down_later, ("an_intent_comes_first",)),
    Mutant(hands_over_what_has_changed, ("a_decision_is_about_what_was_shown",)),
    Mutant(accepts_an_old_page, ("a_decision_is_about_what_was_shown",)),
    Mutant(does_again_without_a_decision, ("one_job_for_each_release",)),
    Mutant(sends_again_for_no_decision, ("one_job_for_each_release",)),
    Mutant(starts_two_at_once, ("at_most_one_active_replay",)),
    Mutant(forgets_the_run_of_a_refused_replay, ("a_job_ends_or_has_a_way_on",)),
    Mutant(stops_and_leaves_the_rest, ("a_delivery_goes_on",)),
    Mutant(rewrites_a_settled_record, ("a_settled_record_stays",)),
    Mutant(reopens_what_is_over, ("what_is_over_stays",)),
    Mutant(forgets_to_move_the_queue, ("everything_stands_where_it_belongs", "a_job_ends_or_has_a_way_on")),
    Mutant(forgets_to_move_the_queue, ("everything_stands_where_it_belongs",), alone=True),
    Mutant(breaks_the_chain, ("the_log_is_one_chain",)),
)
