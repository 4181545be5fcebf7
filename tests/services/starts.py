"""Deciding about runs in tests: the services with what a page would send along."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from django.db import transaction

from approvals.models import Decision, Job, QueueItem, Run
from approvals.rules.decisions import call_key
from approvals.rules.shown import Shown
from approvals.selectors.payloads import contents_of
from approvals.services import handover, jobs, replays, runs
from tests import factories as f

REASON = "The host was rebooted at noon."
LATER = Shown(digest="", opened_at=datetime(2100, 1, 1, tzinfo=UTC))


def declare(by, run, shown=None, reason=REASON):
    return runs.declare_interrupted(by=by, run_id=run.id, shown=shown or f.shown_run(run), reason=reason)


def dismiss(by, run, shown=None, reason=REASON):
    return runs.dismiss(by=by, run_id=run.id, shown=shown or f.shown_run(run), reason=reason)


def reopen(by, run, shown=None, reason=REASON):
    return runs.reopen(by=by, run_id=run.id, shown=shown or f.shown_run(run), reason=reason)


def resolve_call(by, run, resolution="happened", *, call_id="c1", shown=None, reason=REASON):
    return runs.resolve_call(
        by=by,
        run_id=run.id,
        call_id=call_id,
        shown=shown or f.shown_run(run),
        resolution=resolution,
        reason=reason,
    )


def resolve_job(by, job, resolution, *, shown=None, reason=REASON):
    shown = shown or f.shown_run(f.fresh(job).run)
    return runs.resolve_job(by=by, job_id=job.id, shown=shown, resolution=resolution, reason=reason)


def seen_later(shown):
    """The page, opened after everything that happened so far."""
    return replace(shown, opened_at=datetime.now(UTC) + timedelta(seconds=1))


def tab_of(run):
    return f.rows(QueueItem.objects.defer("due").filter(id=run.lineage_id))[0].tab


def replay_in_doubt(ada):
    """(the run, the job whose runtime never answered)."""
    old = f.clean_run()
    started = replays.replay(by=ada, run_id=old.id, shown=f.shown_run(old))
    held = jobs.claim(job_id=started.job.id, task_id="t")
    assert handover.prepare(held=held)
    assert handover.settle(held=held, kind="in_doubt", detail="The connection was reset.")
    return old, started.job


def force(by, run, *, shown=None, reason=REASON, ticked=None, unknown=False):
    keys = [call_key(str(run.id), "c1")] if ticked is None else ticked
    return replays.force(
        by=by,
        run_id=run.id,
        shown=shown or f.shown_run(run),
        reason=reason,
        ticked=keys,
        unknown_ticked=unknown,
    )


def replay(by, run, shown=None):
    return replays.replay(by=by, run_id=run.id, shown=shown or f.shown_run(run))


def nothing_was_saved():
    return f.rows(Decision.objects) == [] and f.rows(Job.objects) == [] and len(f.rows(Run.objects)) == 1


def evidence_of(decision):
    with transaction.atomic():
        return contents_of([decision.payload_id])[decision.payload_id]
