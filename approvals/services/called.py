"""Campaigns that a run proposes by calling a tool which an admin declared as one.

A trigger writes a row beside each such call (sql/0026_called). Here it becomes a version of a campaign or one sentence
why not, in one transaction with what it proposes: whoever is killed in between has proposed nothing, and the row is
found again. What an agent wrote is judged as a body of the machine API is; the call's result makes no difference.
"""

from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import F, Max, Q
from django.db.models.functions import Now

from approvals import faults
from approvals.access.actors import CallingRun
from approvals.exceptions import Invalid, Refusal
from approvals.models import CalledCampaign, Event, Job, Run, Version
from approvals.rules.decisions import IN_PLACE
from approvals.rules.proposal_body import CalledBody, read_arguments
from approvals.selectors.payloads import proven
from approvals.services import payloads, proposals

BY_SUBJECT = (
    "This call was reported with a token that speaks for one customer only, so it cannot propose a campaign. Report it"
    " with a token of the runtime that is not bound to a customer."
)
ERASED = "What it was called with was erased, so nothing was proposed."
ALTERED = "What it was called with is not what was reported, so nothing was proposed."
UNFINISHED = "The model was still writing this call, so nothing was proposed."
OVERTAKEN = (
    "A later attempt of this run proposed this campaign already, so this call came late and changed nothing."
)
UNEXPECTED = (
    "Something here went wrong that was not expected, so nothing was proposed; the worker's log says what."
)


@transaction.atomic
def settle_next(*, run_id: UUID) -> bool:
    """See to the first call of a run that waits; False where none does, or somebody else sees to this lineage."""
    call = _claimed(run_id)
    if call is None:
        return False
    try:
        with transaction.atomic():
            _propose(call)
    except Refusal as refusal:
        _settle(call, "refused", why=refusal)
    faults.point("propose.before_commit")
    return True


@transaction.atomic
def give_up_next(*, run_id: UUID) -> None:
    """The first call of a run that waits cannot be seen to, for a reason of ours: it is not tried for ever."""
    if call := _claimed(run_id):
        _settle(call, "refused", why=Refusal(UNEXPECTED))


def _claimed(run_id: UUID) -> CalledCampaign | None:
    """The first call that waits, locked. One sees to a lineage at a time, so they become versions in their order."""
    run = Run.objects.only("lineage_id").filter(id=run_id).first()
    if run is None:
        return None
    with connection.cursor() as cursor:
        cursor.execute(
            "select pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [f"called {run.lineage_id}"]
        )
        if not cursor.fetchone()[0]:
            return None
    whole_or_over = Q(run__next_seq__gt=F("seq")) | ~Q(run__status="running")
    waiting = CalledCampaign.objects.filter(whole_or_over, run_id=run_id, state="pending")
    return waiting.select_for_update(skip_locked=True, of=("self",)).order_by("seq").first()


def _propose(call: CalledCampaign) -> None:
    if call.by_subject:
        raise Refusal(BY_SUBJECT)
    run = Run.objects.get(id=call.run_id)
    body = _read(call)
    call.ordinal = _ordinal(call, run)
    proposal = body.called(
        # The same for the same call of each attempt, so that a replay proposes another version and no other campaign.
        external_id=f"{run.lineage_id}/{call.tool}/{call.ordinal}",
        run_id=run.id,
    )
    by = CallingRun(run.runtime_id, run.id, run.external_id, run.agent)
    if _overtaken(run, proposal.external_id):
        raise Refusal(OVERTAKEN)
    try:
        campaign, _ = proposals.propose(by=by, proposal=proposal)
    except Invalid:
        call.ordinal = None  # whoever is refused tries again: that call is the one that counts
        raise
    digest = proposals.digest_of(by, proposal)
    version = Version.objects.filter(campaign_id=campaign.id, body_digest=digest).latest("number")
    _settle(call, "proposed", version=version)


def _read(call: CalledCampaign) -> CalledBody:
    """What the call asks for, as it was written down and not otherwise."""
    event = Event.objects.get(run_id=call.run_id, seq=call.seq)
    if event.payload_id is None:
        return read_arguments({})
    contents, altered = proven({event.payload_id: event.payload_hash or b""})
    if altered:
        raise Refusal(ALTERED)
    if event.payload_id not in contents:
        raise Refusal(ERASED)
    content: dict[str, Any] = contents[event.payload_id]
    if content.get("partial"):
        raise Refusal(UNFINISHED)
    return read_arguments(content.get("args"))


def _ordinal(call: CalledCampaign, run: Run) -> int:
    """Which call of this tool it is, from 1. A replay in place goes on where the run it repeats broke off."""
    while True:
        calls = CalledCampaign.objects.filter(run_id=run.id, tool=call.tool)
        last: int | None = calls.aggregate(last=Max("ordinal"))["last"]
        goes_on = Job.objects.filter(run_id=run.id, decision__kind__in=IN_PLACE).exists()
        if last is not None or run.replay_of_id is None or not goes_on:
            return (last or 0) + 1
        run = Run.objects.get(id=run.replay_of_id)


def _overtaken(run: Run, external_id: str) -> bool:
    later = CalledCampaign.objects.filter(
        run__lineage_id=run.lineage_id, run__created_at__gt=run.created_at, state="proposed"
    )
    return later.filter(
        version__campaign__external_id=external_id, version__campaign__runtime_id=run.runtime_id
    ).exists()


def _settle(
    call: CalledCampaign, state: str, *, version: Version | None = None, why: Refusal | None = None
) -> None:
    told = payloads.store({"field": why.field or "", "text": why.text}) if why else None
    settled = CalledCampaign.objects.filter(id=call.id, state="pending").update(
        state=state,
        ordinal=call.ordinal,
        version=version,
        why_payload_id=told.id if told else None,
        settled_at=Now(),
    )
    assert settled == 1, "it is locked"
