"""From an effect back to the decision, or the rule, that allowed it.

Everything is found through an index, within the bound workspace. Nothing of it stands in a payload, so the answer is
the same after an erasure.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import F, Q, QuerySet

from approvals.models import Decision, Delivery, Job, Run, ToolCall, User, Version
from approvals.rules.authority import NOT_MADE, Effect, Step
from approvals.rules.trials import job_of, message_id_of_trial
from approvals.selectors.reach import spelling_of

LONGEST = 400  # characters of a question
_CHAIN = 20  # replays of replays in doubt that are followed back
_RELEASED = ("approved", "sending", "paused", "finished", "stopped")
# What a campaign that is in one of these states is in it for.
_CLOSING = {"rejected": "reject", "stopped": "stop", "returned": "return_campaign"}


@dataclass(frozen=True, slots=True)
class Found:
    """What goes by a name; `more` where that is not all of it."""

    effects: tuple[Effect, ...]
    more: bool


def effects_of(query: str, *, at_most: int) -> Found:
    """Every delivery, run and call that goes by this.

    A Message-ID, an address or customer, the id of a delivery or a test, the id or external id of a run, the id of a
    call, or the last two together.
    """
    asked = query.strip()
    if (
        not asked
        or len(asked) > LONGEST
        or any(char == "\0" or "\ud800" <= char <= "\udfff" for char in asked)
    ):
        return Found((), more=False)
    first, _, rest = asked.partition(" ")
    size = at_most + 1
    effects: list[Effect] = []
    if (run_id := _uuid(first)) and rest:
        effects += _calls([run_id], at_most=size, call_id=rest.strip())
    effects += _deliveries(asked, size)
    effects += _tests(asked, size)
    runs = _runs(asked, size)
    effects += _effects_of_runs(runs)
    named = [run.id for run in runs if asked in (str(run.id), run.external_id)]
    effects += _calls(named, at_most=size)
    effects += _calls(_runs_that_called(asked, size), at_most=size, call_id=asked)
    once = {(effect.what, effect.id, effect.call_id): effect for effect in effects}
    return Found(tuple(once.values())[:at_most], len(once) > at_most)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


# -- mail ---------------------------------------------------------


def _deliveries(asked: str, size: int) -> list[Effect]:
    rows = Delivery.objects.select_related("campaign", "version").order_by(
        F("attempted_at").desc(nulls_last=True), "-id"
    )
    named = Q(message_id=f"<{asked.strip('<>')}>") | Q(dedupe_key=spelling_of(asked))
    if id := _uuid(asked):
        named |= Q(id=id)
    elif "@" not in asked:
        return []
    return _effects_of_deliveries(list(rows.filter(named)[:size]))


def _effects_of_deliveries(rows: Collection[Delivery]) -> list[Effect]:
    ids, campaigns = [row.id for row in rows], {row.campaign_id for row in rows}
    sends = Job.objects.select_related("decision").filter(
        Q(delivery_id__isnull=True) | Q(delivery_id__in=ids), campaign_id__in=campaigns
    )
    jobs: dict[UUID | None, list[Job]] = defaultdict(list)
    for job in sends.order_by("created_at", "id"):
        jobs[job.delivery_id or job.campaign_id].append(job)
    closed = _closed([row for row in rows if not row.attempt])
    return [_delivery(row, jobs, closed.get(row.id)) for row in rows]


def _closed(unsent: Collection[Delivery]) -> dict[UUID, Decision]:
    """What kept each of these from being sent, by delivery: its campaign's end, or the version that came after."""
    campaigns = {row.campaign_id for row in unsent}
    digests = {
        (campaign_id, number): digest
        for campaign_id, number, digest in Version.objects.filter(campaign_id__in=campaigns).values_list(
            "campaign_id", "number", "digest"
        )
    }
    newest: dict[UUID, int] = {}
    for campaign_id, number in digests:
        newest[campaign_id] = max(number, newest.get(campaign_id, 0))
    entries = Decision.objects.filter(item_id__in=campaigns, kind__in=["new_version", *_CLOSING.values()])
    by_digest, by_kind = {}, {}
    for entry in entries.order_by("seq"):
        by_digest[entry.item_id, entry.kind, entry.digest] = by_kind[entry.item_id, entry.kind] = entry
    found: dict[UUID, Decision | None] = {}
    for row in unsent:
        campaign, number = row.campaign_id, row.version.number
        stopped = by_digest.get((campaign, "stop", row.version.digest))
        if number < newest[campaign]:
            replaced = by_digest.get((campaign, "new_version", digests[campaign, number + 1]))
            found[row.id] = stopped or replaced
        elif kind := _CLOSING.get(row.campaign.status):
            found[row.id] = by_kind.get((campaign, kind))
    return {id: decision for id, decision in found.items() if decision is not None}


def _delivery(row: Delivery, jobs: Mapping[UUID | None, list[Job]], closed: Decision | None) -> Effect:
    campaign = row.campaign
    approved = [job for job in jobs[campaign.id] if job.decision.digest == row.version.digest]
    # A version whose sending began is never approved once more, so its last approval is the one.
    tried = row.attempt > 0
    standing = campaign.status in _RELEASED if closed is None else closed.kind == "stop"
    releases = approved[-1:] if tried or standing else []
    steps = [_step(job.decision, job) for job in (*releases, *jobs[row.id])]
    not_done = "" if tried else _not_sent(row, closed)
    if closed is not None:
        steps.append(_step(closed))
    return Effect(
        what="delivery",
        id=row.id,
        name=row.address,
        state=row.state,
        at=row.attempted_at if tried else None,
        item_id=campaign.id,
        item=campaign.name,
        agent=campaign.agent,
        message_id=row.message_id,
        steps=tuple(steps),
        nobody="unknown" if tried and not steps else "",
        not_done=not_done,
    )


def _not_sent(row: Delivery, closed: Decision | None) -> str:
    if closed is not None or row.state == "skipped":
        return "Not sent."
    match row.campaign.status:
        case "pending":
            return "Not sent: nobody has approved this campaign."
        case "approved" | "sending" | "paused":
            return "Not sent yet."
        case _:
            return "Not sent."


def _tests(asked: str, size: int) -> list[Effect]:
    """Tests of messages, which went to whoever decided them: by Message-ID, id or address."""
    if id := job_of(asked) or _uuid(asked):
        jobs = Job.objects.filter(id=id, kind="test")
    elif "@" in asked:
        people = User.objects.filter(email=asked.lower()).values_list("id", flat=True)
        theirs = Decision.objects.filter(
            kind="send_test", actor_kind="member", actor_id__in=[str(id) for id in people]
        )
        newest = theirs.order_by("-seq").values_list("id", flat=True)[:size]
        jobs = Job.objects.filter(decision_id__in=list(newest))
    else:
        return []
    rows = jobs.select_related("decision", "sample__campaign", "sample__version").order_by("-created_at")
    tests = [_test(row, row.sample) for row in rows if row.sample is not None]
    named = f"<{asked.strip('<>')}>"
    return [test for test in tests if job_of(asked) is None or test.message_id == named]


def _test(row: Job, sample: Delivery) -> Effect:
    campaign = sample.campaign
    return Effect(
        what="test",
        id=row.id,
        name=row.decision.actor_name,
        state=row.status,
        at=row.intent_at,
        item_id=campaign.id,
        item=campaign.name,
        agent=campaign.agent,
        message_id=message_id_of_trial(row.id, sample.version.from_address),
        steps=(_step(row.decision, row),),
        not_done="" if row.intent_at and row.status != "failed" else row.outcome or "Not sent yet.",
    )


# -- runs ---------------------------------------------------------


def _runs(asked: str, size: int) -> list[Run]:
    """By id, external id or customer; each of them by an index of its own."""
    ways: list[Q] = [Q(external_id=asked), Q(subject=asked)]
    if id := _uuid(asked):
        ways.insert(0, Q(id=id))
    found: dict[UUID, Run] = {}
    for way in ways:
        for run in Run.objects.filter(way).order_by("-created_at", "-id")[:size]:
            found.setdefault(run.id, run)
    return list(found.values())[:size]


def _effects_of_runs(runs: Collection[Run]) -> list[Effect]:
    steps = _steps_of_runs([run.id for run in runs])
    return [
        Effect(
            what="run",
            id=run.id,
            name=run.external_id,
            state=run.status,
            at=run.started_at,
            item_id=run.id,
            item=run.external_id,
            agent=run.agent,
            subject=run.subject,
            steps=steps[run.id],
            nobody=_nobody_began(run, steps[run.id]),
            not_done="" if run.started_at else _not_started(steps[run.id]),
        )
        for run in runs
    ]


def _nobody_began(run: Run, steps: Collection[Step]) -> str:
    if run.replay_of_id is None:
        return "original"
    return "" if steps else "unknown"


def _not_started(steps: Collection[Step]) -> str:
    outcome = next((step.outcome for step in reversed(tuple(steps))), "")
    return f"Not started: {outcome}" if outcome else "Not started yet."


def _steps_of_runs(run_ids: Iterable[UUID]) -> dict[UUID, tuple[Step, ...]]:
    """What made each of these runs, oldest first: more than one decision where an earlier replay was in doubt."""
    made: dict[UUID, tuple[Step, ...]] = defaultdict(tuple)
    jobs = Job.objects.select_related("decision")
    open_ends: dict[UUID, UUID] = {}  # run: the job that was decided about before
    for job in jobs.filter(run_id__in=list(run_ids)):
        if job.run_id is not None:
            made[job.run_id] = (_step(job.decision, job),)
            _follow(open_ends, job.run_id, job.decision)
    for _ in range(_CHAIN):
        if not open_ends:
            break
        earlier = {job.id: job for job in jobs.filter(id__in=open_ends.values())}
        before, open_ends = open_ends, {}
        for run_id, job_id in before.items():
            if job_id in earlier:
                made[run_id] = (_step(earlier[job_id].decision, earlier[job_id]), *made[run_id])
                _follow(open_ends, run_id, earlier[job_id].decision)
    return made


def _follow(open_ends: dict[UUID, UUID], run_id: UUID, decision: Decision) -> None:
    if decision.kind == "replay_again" and decision.target_kind == "job":
        open_ends[run_id] = decision.target_id


# -- calls --------------------------------------------------------

_CALLED = """
    select c.run_id, c.call_id, min(c.seq), coalesce(bool_or(c.late) filter (where c.type = 'tool_call'), false),
      min(e.received_at) filter (where c.type = 'tool_call')
    from approvals_callevent c
    join approvals_event e on e.workspace_id = c.workspace_id and e.run_id = c.run_id and e.seq = c.seq
    where c.run_id = any(%s) and e.run_id = any(%s)
      and (%s = '' or c.call_id = %s or starts_with(c.call_id, %s || ' #'))
    group by c.run_id, c.call_id order by c.run_id, min(c.seq) limit %s
"""
_BY_CALL_ID = """
    select distinct e.run_id from approvals_event e where e.type = 'tool_call' and e.call_id = %s limit %s
"""


def _runs_that_called(call_id: str, size: int) -> list[UUID]:
    with connection.cursor() as cursor:
        cursor.execute(_BY_CALL_ID, [call_id, size])
        return [run_id for (run_id,) in cursor.fetchall()]


def _calls(run_ids: list[UUID], *, at_most: int, call_id: str = "") -> list[Effect]:
    """The calls of these runs; with `call_id` those that go by it, however often the agent used it again."""
    if not run_ids:
        return []
    with connection.cursor() as cursor:
        cursor.execute(_CALLED, [run_ids, run_ids, call_id, call_id, call_id, at_most])
        rows = cursor.fetchall()
    if not rows:
        return []
    ids = list({row[0] for row in rows})
    calls = {
        (call.run_id, call.call_id): call
        for call in ToolCall.objects.filter(run_id__in=ids, call_id__in={row[1] for row in rows})
    }
    runs = {run.id: run for run in Run.objects.filter(id__in=ids)}
    replays = _replays_of(runs.values())
    steps = _steps_of_runs(ids)
    effects = []
    for run_id, of_call, seq, late, received_at in rows:
        run, call = runs[run_id], calls[run_id, of_call]
        why, replay = _why_late(run, received_at, replays.get(run_id)) if late else ("", "")
        if call.state == "supplied":
            why = "supplied"
        effects.append(
            Effect(
                what="call",
                id=run.id,
                call_id=of_call,
                name=call.name or "a tool",
                state=call.state,
                at=call.at,
                item_id=run.id,
                item=run.external_id,
                agent=run.agent,
                subject=run.subject,
                seq=seq,
                steps=steps[run.id],
                nobody=why or _nobody_began(run, steps[run.id]),
                not_done=NOT_MADE.get(call.state, ""),
                replay=replay,
            )
        )
    return effects


def _replays_of(runs: Collection[Run]) -> dict[UUID | None, Run]:
    """The first replay of each that began; found through the lineage, which has an index."""
    attempts = Run.objects.filter(lineage_id__in={run.lineage_id for run in runs})
    began: QuerySet[Run] = attempts.filter(
        replay_of_id__in=[run.id for run in runs], started_at__isnull=False
    )
    first: dict[UUID | None, Run] = {}
    for run in began.order_by("started_at"):
        first.setdefault(run.replay_of_id, run)
    return first


def _why_late(run: Run, received_at: datetime, replay: Run | None) -> tuple[str, str]:
    """(key of NOBODY, the replay where it is about one). The order is that of the reasons' weight for a reader."""

    def before(at: datetime | None) -> bool:
        return at is not None and at <= received_at

    if replay is not None and before(replay.started_at):
        return "late_replay", replay.external_id
    if run.status == "cancelled" and run.ended_at is None:
        return "late_never", ""
    if before(run.interrupted_at):
        return "late_interrupted", ""
    return ("late_ended", "") if before(run.settled_at) else ("late", "")


def _step(decision: Decision, job: Job | None = None) -> Step:
    return Step(
        decision_id=decision.id,
        seq=decision.seq,
        at=decision.at,
        kind=decision.kind,
        actor_kind=decision.actor_kind,
        who=decision.actor_name,
        roles=tuple(decision.actor_roles),
        job=job.status if job else "",
        outcome=job.outcome if job else "",
    )
