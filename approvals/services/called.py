"""Campaigns that a run proposes by calling a tool which an admin declared as one.

A trigger writes a row beside each such call (sql/0026_called). Here it becomes a version of a campaign or one sentence
why not, in one transaction with what it proposes: whoever is killed in between has proposed nothing, and the row is
found again. What an agent wrote is judged as a body of the machine API is; the call's result makes no difference.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Now

from approvals import faults
from approvals.access.actors import CallingRun
from approvals.exceptions import Refusal
from approvals.models import CalledCampaign, Event, Job, Run, Version
from approvals.rules.decisions import IN_PLACE
from approvals.rules.proposal_body import read_arguments
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
    run, content, unreadable = _counted(call)
    try:
        if unreadable:
            raise Refusal(unreadable)
        with transaction.atomic():
            _propose(call, run, content)
    except Refusal as refusal:
        _settle(call, "refused", why=refusal)
    faults.point("propose.before_commit")
    return True


@transaction.atomic
def give_up_next(*, run_id: UUID) -> None:
    """The first call of a run that waits cannot be seen to, for a reason of ours: it is not tried for ever."""
    if call := _claimed(run_id):
        with suppress(Exception), transaction.atomic():  # what went wrong may be just this
            _counted(call)
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


def _counted(call: CalledCampaign) -> tuple[Run, Mapping[str, Any], str]:
    """(its run, what it was called with, why that cannot be used): counted among the calls of its tool, if it is one.

    One that the model was still writing is none: the whole call follows as one of its own, or there never was one.
    """
    run = Run.objects.get(id=call.run_id)
    content, unreadable = _content_of(call)
    if unreadable != UNFINISHED:
        call.ordinal = _calls(run, call.tool, before=call.seq) + 1
    return run, content, unreadable


def _content_of(call: CalledCampaign) -> tuple[Mapping[str, Any], str]:
    """(as it was written down and not otherwise, why it cannot be used)."""
    event = Event.objects.get(run_id=call.run_id, seq=call.seq)
    if event.payload_id is None:
        return {"args": {}}, ""
    contents, altered = proven({event.payload_id: event.payload_hash or b""})
    if altered or event.payload_id not in contents:
        return {}, ALTERED if altered else ERASED
    content: Mapping[str, Any] = contents[event.payload_id]
    return content, UNFINISHED if content.get("partial") else ""


def _propose(call: CalledCampaign, run: Run, content: Mapping[str, Any]) -> None:
    if call.by_subject:
        raise Refusal(BY_SUBJECT)
    proposal = read_arguments(content.get("args")).called(
        # The same for the same call of each attempt, so that a replay proposes another version and no other campaign.
        external_id=f"{run.lineage_id}/{call.tool}/{call.ordinal}",
        run_id=run.id,
    )
    by = CallingRun(run.runtime_id, run.id, run.external_id, run.agent)
    if _overtaken(run, proposal.external_id):
        raise Refusal(OVERTAKEN)
    campaign, _ = proposals.propose(by=by, proposal=proposal)
    digest = proposals.digest_of(by, proposal)
    version = Version.objects.filter(campaign_id=campaign.id, body_digest=digest).latest("number")
    _settle(call, "proposed", version=version)


def _calls(run: Run, tool: str, *, before: int | None = None) -> int:
    """How many whole calls of this tool there were, up to this event of the run.

    Those that proposed nothing count too, and those from before the tool was declared: the next attempt may do better
    with the same call, and each of its calls has to meet its own campaign. A replay in place goes on counting.
    """
    rows = CalledCampaign.objects.filter(run_id=run.id, tool=tool)
    last = rows.filter(ordinal__isnull=False).order_by("-ordinal").first()
    never_whole = rows.filter(seq=OuterRef("seq"), ordinal=None).exclude(state="pending")
    replaced = Event.objects.filter(run_id=run.id, type="tool_result", outcome="replaced")
    further = Event.objects.filter(
        ~Exists(never_whole),
        ~Exists(replaced.filter(call_id=OuterRef("call_id"))),
        **{"run_id": run.id, "type": "tool_call", "origin": "live", "name": tool},
        seq__gt=last.seq if last else -1,
    )
    if before is not None:
        further = further.filter(seq__lt=before)
    counted = last.ordinal if last else _calls_before(run, tool)
    return (counted or 0) + further.count()


def _calls_before(run: Run, tool: str) -> int:
    """What a replay in place goes on from; 0 for a run that begins anew."""
    goes_on = Job.objects.filter(run_id=run.id, decision__kind__in=IN_PLACE).exists()
    if run.replay_of_id is None or not goes_on:
        return 0
    return _calls(Run.objects.get(id=run.replay_of_id), tool)


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
