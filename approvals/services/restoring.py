"""After a restore: nothing that was due when the backup was taken happens by itself.

What was waiting may have happened between the backup and the loss, and nothing in the copy would show it. So jobs are
paused, what was under way is in doubt, and a person decides. Only the owner may; each workspace is one transaction,
and whoever is killed in between does it again.
"""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models.functions import Coalesce, Now

from approvals.access.actors import Actor
from approvals.db.binding import current_workspace
from approvals.models import Campaign, Decision, Delivery, Job, Place, Run
from approvals.rules import trials
from approvals.services import decisions, outcomes

REPLAY = (
    "The database was restored from a backup. This replay may have been started since that was taken, and nothing here"
    " would show it: ask its runtime before you let it go on."
)
SEND = (
    "The database was restored from a backup. Messages of this campaign may have gone out since that was taken, and"
    " nothing here would show it: ask the mail server before you let it go on."
)
TEST = (
    "The database was restored from a backup, so this test was taken back. It may have arrived since that was taken:"
    " look in your mailbox, and send another if it did not."
)
IN_DOUBT = "The database was restored from a backup that was taken while this was under way."


@dataclass(frozen=True, slots=True)
class HeldBack:
    """What was due or under way in one workspace, and does not go on by itself any more."""

    paused_replays: int
    paused_sends: int
    replays_in_doubt: int
    deliveries_in_doubt: int
    tests_taken_back: int
    tests_in_doubt: int

    def __bool__(self) -> bool:
        return any(asdict(self).values())


@transaction.atomic
def begin() -> datetime:
    """When the first try at this began: what a try that was cut short has logged is not logged again."""
    Place.objects.update(restoring_since=Coalesce("restoring_since", Now()))
    with connection.cursor() as cursor:
        cursor.execute("select coalesce((select restoring_since from approvals_place), now())")
        since: datetime = cursor.fetchone()[0]
    return since


@transaction.atomic
def hold_back(*, by: Actor, since: datetime, taken_at: datetime | None) -> HeldBack:
    """Pause what is due in the bound workspace, and put in doubt what was under way."""
    _lock()
    running = Job.objects.filter(status="running")
    asked = running.filter(kind="replay", intent_at__isnull=False, accepted_at__isnull=True)
    leaving = running.filter(kind="test", intent_at__isnull=False)
    # A replay that its runtime took is watched over by its own silence.
    lost = running.filter(kind="send") | running.filter(
        kind__in=["replay", "test"], intent_at__isnull=True, accepted_at=None
    )
    waiting = Job.objects.filter(status__in=["held", "queued"])
    doubtful = list((asked | leaving).values_list("id", flat=True))
    held = HeldBack(
        deliveries_in_doubt=Delivery.objects.filter(state="attempting").update(
            state="in_doubt", settled_at=Now(), reply=IN_DOUBT
        ),
        replays_in_doubt=_doubt(asked, IN_DOUBT),
        tests_in_doubt=_doubt(leaving, f"{IN_DOUBT} {trials.IN_DOUBT}"),
        paused_replays=_pause((waiting | lost).filter(kind="replay"), REPLAY),
        paused_sends=_pause((waiting | lost).filter(kind="send"), SEND),
        tests_taken_back=_take_back((waiting | lost).filter(kind="test")),
    )
    for job_id in doubtful:
        outcomes.record(job_id)
    if held or not Decision.objects.filter(kind="restored", at__gte=since).exists():
        evidence: dict[str, Any] = asdict(held)
        if taken_at:
            evidence["taken_at"] = taken_at.isoformat()
        decisions.record(
            by=by, kind="restored", target_kind="workspace", target_id=current_workspace(), evidence=evidence
        )
    return held


@transaction.atomic
def finish() -> None:
    """This is the real database now; last, so that nothing starts before everything is held back."""
    with connection.cursor() as cursor:
        cursor.execute("select adopt_place()")
    Place.objects.update(restored_at=Now(), restoring_since=None)


def _lock() -> None:
    """Lineages and campaigns with something due, in the order in which everybody takes them."""
    due = Job.objects.filter(status__in=["held", "queued", "running"])
    lineages = Run.objects.filter(id__in=due.filter(kind="replay").values("run_id")).values("lineage_id")
    runs = Run.objects.filter(lineage_id__in=lineages).order_by("lineage_id", "created_at", "id")
    list(runs.select_for_update(no_key=True).values_list("id", flat=True))
    campaigns = Campaign.objects.filter(id__in=due.filter(kind="send").values("campaign_id")).order_by("id")
    list(campaigns.select_for_update(no_key=True).values_list("id", flat=True))
    list(due.order_by("id").select_for_update(no_key=True).values_list("id", flat=True))


def _doubt(jobs: Any, why: str) -> int:
    doubted: int = jobs.update(status="in_doubt", outcome=why, finished_at=Now(), lease_until=None)
    return doubted


def _take_back(tests: Any) -> int:
    """A test is worth nothing later: whoever wanted it asks for another, and nobody has to decide about this one."""
    ids = list(tests.values_list("id", flat=True))
    _pause(Job.objects.filter(id__in=ids), TEST)
    return Job.objects.filter(id__in=ids).update(status="cancelled")


def _pause(jobs: Any, why: str) -> int:
    paused: int = jobs.update(status="paused", outcome=why, lease_until=None, due_at=Now())
    return paused
