"""What must be true after every step, whatever happened: read from the rows, derived again without the product's code.

A law takes a `Step` and yields one sentence for each breach. A person's decision is one of a member.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from uuid import UUID

from approvals.rules.decisions import IN_PLACE, RELEASING
from tests.machine.places import everything_stands_where_it_belongs
from tests.machine.seen import LIVE, OVER, Row, Seen
from tests.machine.step import Step, named

STARTING = ("replay", "force_replay", "replay_again", *IN_PLACE)
# Kinds that are bound to what the decider was shown of a lineage.
BOUND = (*STARTING, "declare_interrupted", "dismiss")


def at_most_one_active_replay(step: Step) -> Iterator[str]:
    """Of each lineage, one attempt runs or is about to."""
    for lineage_id, attempts in step.now.lineages():
        active = [run for run in attempts if run.status == "running"]
        if len(active) > 1:
            yield f"{len(active)} attempts of {named(step.now, lineage_id)} are active"


def a_handover_needs_a_decision(step: Step) -> Iterator[str]:
    """A job is handed over once, never after it was taken back; between two starts somebody decided."""
    calls = step.outside.handovers
    for job_id, times in Counter(call.job_id for call in calls).items():
        if times > 1:
            yield f"the runtime was asked {times} times for the replay of one decision ({job_id})"
    for taken_back in step.now.persons("cancel_replay"):
        if any(call.job_id == taken_back.target_id and call.head >= taken_back.seq for call in calls):
            yield "a replay that was taken back was handed over"
    for lineage_id, attempts in step.now.lineages():
        ids = {run.id for run in attempts}
        started = [call.head for call in calls if call.run_id in ids and call.took_it]
        releases = [d.seq for d in step.now.decisions if d.item_id == lineage_id and d.kind in STARTING]
        for first, second in pairwise([0, *started]):
            if not any(first < seq <= second for seq in releases):
                yield f"{named(step.now, lineage_id)} was started again without a decision between"


def a_message_needs_a_person(step: Step) -> Iterator[str]:
    """The first message to somebody needs a standing approval, each further one a person who said: send it again."""
    for delivery in step.now.deliveries.values():
        mails = [mail for mail in step.outside.mails if mail.message_id == delivery.message_id]
        if not mails:
            continue
        digest = step.now.versions[delivery.version_id].digest
        answers = [
            d.kind
            for d in step.now.persons("approve", "return_campaign", "reject", "cancel_send")
            if (d.item_id, d.digest) == (delivery.campaign_id, digest) and d.seq <= mails[0].head
        ]
        if answers[-1:] != ["approve"]:
            yield f"{delivery.address} was written to without an approval"
        again = [d.seq for d in step.now.persons("send_again") if d.target_id == delivery.id]
        for first, second in pairwise(mails):
            if not any(first.head < seq <= second.head for seq in again):
                yield f"{delivery.address} was written to again without a person's decision between"


def nobody_gets_two_versions(step: Step) -> Iterator[str]:
    """Of the versions of a campaign somebody gets one, whatever their address looks like in each."""
    got: dict[tuple[UUID, str], set[str]] = {}
    ids = {delivery.message_id: delivery for delivery in step.now.deliveries.values()}
    for mail in step.outside.mails:
        if mail.took_it:
            delivery = ids[mail.message_id]
            got.setdefault((delivery.campaign_id, delivery.address.lower()), set()).add(mail.message_id)
    for (_, address), messages in got.items():
        if len(messages) > 1:
            yield f"{address} got {len(messages)} versions of one campaign"


def only_the_newest_version_goes_out(step: Step) -> Iterator[str]:
    """An attempt that begins is of the newest version, but for one that somebody sends again."""
    for delivery in step.now.deliveries.values():
        earlier = step.before.deliveries.get(delivery.id)
        began = delivery.state == "attempting" and (earlier is None or earlier.attempt < delivery.attempt)
        if not began or step.now.jobs[delivery.job_id].delivery_id is not None:
            continue
        number = step.before.versions[delivery.version_id].number
        if any(
            v.campaign_id == delivery.campaign_id and v.number > number for v in step.before.versions.values()
        ):
            yield f"{delivery.address} was written to by a version that another one took the place of"


def an_intent_comes_first(step: Step) -> Iterator[str]:
    """Nothing leaves before it is written down that it will."""
    yield from step.outside.without_intent


def one_job_for_each_release(step: Step) -> Iterator[str]:
    """Each releasing decision has exactly one job, about the same thing, and no other decision has any."""
    of_decision = Counter(job.decision_id for job in step.now.jobs.values())
    decisions = {decision.id: decision for decision in step.now.decisions}
    for decision in step.now.decisions:
        if of_decision[decision.id] != (decision.kind in RELEASING):
            yield f"decision {decision.seq} ({decision.kind}) has {of_decision[decision.id]} jobs"
    for job in step.now.jobs.values():
        about = job.campaign_id or step.now.runs[job.run_id].lineage_id
        if job.decision_id not in decisions:
            yield f"a {job.kind} job has no decision"
        elif decisions[job.decision_id].item_id != about:
            yield f"a {job.kind} job does something else than what was decided"


def only_the_provably_empty_starts_without_force(step: Step) -> Iterator[str]:
    """A start that nobody forced (the rule's above all) is of a lineage that provably did nothing."""
    for decision in step.new_decisions:
        if decision.kind == "replay":
            for run in step.before.lineage(decision.item_id):
                if why := _may_have_acted(step.before, run):
                    yield f"{decision.actor_name} started again, unforced, though {run.external_id} {why}"


def _may_have_acted(seen: Seen, run: Row) -> str:
    """Why this attempt may have done something, from its bare events; empty where it provably did not."""
    events = seen.journal(run.id)
    if run.status == "running":
        return "runs"
    if run.dismissed_at is not None:
        return "was dismissed"
    if run.started_at is None and not events:
        return ""  # never handed over
    if any(event.type in ("tool_call", "tool_result") for event in events):
        return "called a tool"
    if any(event.origin == "restored" for event in events):
        return "has a history from elsewhere"
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        return "misses events"
    return _may_have_acted_unseen(seen, run, events)


def _may_have_acted_unseen(seen: Seen, run: Row, events: Sequence[Row]) -> str:
    """Why the journal may not tell all of it."""
    if not any(event.type == "ended" for event in events):
        return "never said that it ended"
    if any(event.type == "finding" for event in events):
        return "has a history that something is wrong with"
    if all(event.origin == "inferred" for event in events if event.type == "ended"):
        return "is held to have ended"
    reported = any(event.provenance == "reported" for event in events)
    if reported and not seen.runtimes[run.runtime_id].writes_ahead:
        return "was merely reported"
    if any(event.late for event in events):
        return "was heard from late"
    return "completed" if run.status == "completed" else ""


def a_decision_is_about_what_was_shown(step: Step) -> Iterator[str]:
    """Neither a decision nor its handover is about anything else than what the decider saw."""
    for decision in step.new_decisions:
        bound = decision.kind in BOUND and decision.actor_kind == "member"
        if bound and step.shown != step.before.looks(decision.item_id):
            yield f"{decision.actor_name} decided ({decision.kind}) about something that had changed"
    for job in step.now.jobs.values():
        earlier = step.before.jobs.get(job.id)
        if job.kind == "replay" and job.intent_at and (earlier is None or earlier.intent_at is None):
            lineage_id = step.now.runs[job.run_id].lineage_id
            if step.decided.get(job.id) != step.now.looks(lineage_id, without=job.run_id):
                yield f"{named(step.now, lineage_id)} was handed over though it had changed since the decision"


def a_late_event_is_late(step: Step) -> Iterator[str]:
    """Late: after the record was settled, the run was interrupted or given up, or a replay of it began."""
    known = {event.id for event in step.before.events}
    for event in step.now.events:
        run = step.before.runs.get(event.run_id)
        if event.id in known:
            continue
        late = run is not None and (
            run.settled_at is not None
            or run.status == "interrupted"
            or (run.status == "cancelled" and run.ended_at is None)
            or any(r.replay_of_id == run.id and r.started_at for r in step.before.runs.values())
        )
        if event.late != late:
            yield f"event {event.seq} of {step.now.runs[event.run_id].external_id} has late = {event.late}"


def a_settled_record_stays(step: Step) -> Iterator[str]:
    """tools_executed is written once, and says what the journal said at that moment."""
    for run in step.now.runs.values():
        earlier = step.before.runs.get(run.id)
        if earlier is not None and earlier.settled_at is not None:
            if (run.tools_executed, run.settled_at) != (earlier.tools_executed, earlier.settled_at):
                yield f"the settled record of {run.external_id} changed"
        elif run.settled_at is not None:
            told = [e for e in step.now.journal(run.id) if e.type in ("tool_call", "tool_result")]
            calls = {e.call_id for e in told} - {e.call_id for e in told if e.outcome == "replaced"}
            if len(run.tools_executed) != len(calls):
                yield f"the record of {run.external_id} was settled as {run.tools_executed}"
    kept = step.before.events
    ids = {event.id: event for event in step.now.events}
    if any(ids.get(event.id) != event for event in kept):
        yield "an event of the journal changed"


def what_is_over_stays(step: Step) -> Iterator[str]:
    """A state without a way out is never left, and nothing about it changes."""
    for job in step.before.jobs.values():
        if job.status in OVER and step.now.jobs[job.id] != job:
            yield f"a {job.kind} job that was {job.status} changed"
    for run in step.before.runs.values():
        now = step.now.runs[run.id]
        if run.status in ("completed", "failed", "cancelled") and now.status != run.status:
            yield f"{run.external_id} was {run.status} and is {now.status}"
    for campaign in step.before.campaigns.values():
        over = campaign.status in ("rejected", "finished")
        if over and step.now.campaigns[campaign.id].status != campaign.status:
            yield f"campaign {campaign.name} was {campaign.status} and is no more"
    for delivery in step.before.deliveries.values():
        if delivery.state in ("sent", "skipped") and step.now.deliveries[delivery.id] != delivery:
            yield f"the delivery to {delivery.address} was {delivery.state} and changed"


def a_doubt_waits_for_somebody(step: Step) -> Iterator[str]:
    """What is in doubt, or was refused, is left by a person's decision alone, or by hearing from the new run itself.

    What was refused under one version is left, refused as it is, by a newer one that wrote to the same recipient.
    """
    decided = {d.target_id for d in step.new_decisions if d.actor_kind == "member" and d.kind != "refused"}
    for job in step.before.jobs.values():
        now = step.now.jobs[job.id]
        answered = job.id in decided or step.now.journal(job.run_id)
        if job.status == "in_doubt" and now != job and not answered:
            yield f"the doubt about a replay went from {job.status} to {now.status} by itself"
    for delivery in step.before.deliveries.values():
        now = step.now.deliveries[delivery.id]
        overtaken = delivery.state == now.state == "failed" and _wrote_since(step.now, now)
        left = delivery.state in ("in_doubt", "failed") and now != delivery
        if left and delivery.id not in decided and not overtaken:
            yield f"the delivery to {delivery.address} went from {delivery.state} to {now.state} by itself"


def _wrote_since(seen: Seen, failed: Row) -> bool:
    number = seen.versions[failed.version_id].number
    return any(
        (one.campaign_id, one.dedupe_key) == (failed.campaign_id, failed.dedupe_key)
        and one.state in ("sent", "in_doubt", "failed")
        and seen.versions[one.version_id].number > number
        for one in seen.deliveries.values()
    )


def nobody_settles_what_a_newer_version_settled(step: Step) -> Iterator[str]:
    """Once nothing of a campaign is under way, a failure waits for somebody only where no newer version wrote since."""
    for delivery in step.now.deliveries.values():
        waits = delivery.state == "failed" and delivery.resolved_at is None
        if waits and not step.now.jobs_of(delivery.campaign_id, *LIVE) and _wrote_since(step.now, delivery):
            yield f"somebody is asked about {delivery.address}, whom a newer version wrote to since"


def a_job_ends_or_has_a_way_on(step: Step) -> Iterator[str]:
    """No job, run, campaign or delivery waits for something that will never come."""
    for job in step.now.jobs.values():
        yield from _job_goes_on(step.now, job)
    for run in step.now.runs.values():
        job = step.now.job_of(run.id)
        if run.status != "running":
            continue
        if run.replay_of_id is None or (job is not None and job.accepted_at):
            if run.silent_after is None:
                yield f"nobody watches over {run.external_id}"
        elif job is None or job.status not in LIVE:
            yield f"{run.external_id} is about to start, and its job is over"
    for campaign in step.now.campaigns.values():
        if campaign.status == "approved" and not any(
            job.delivery_id is None for job in step.now.jobs_of(campaign.id, *LIVE)
        ):
            yield f"campaign {campaign.name} is approved, and nothing sends it"
        if campaign.status in ("sending", "paused") and not step.now.jobs_of(campaign.id, *LIVE):
            yield f"campaign {campaign.name} is being sent by nobody"


def _job_goes_on(seen: Seen, job: Row) -> Iterator[str]:
    run = seen.runs[job.run_id] if job.run_id else None
    if job.status == "running" and not (job.lease_until or job.accepted_at):
        yield f"a running {job.kind} job has neither a lease nor a run that was taken up"
    if run is not None and job.status == "done" and run.ended_at is None:
        yield f"the job of {run.external_id} is done, and the run has not ended"
    if (
        run is not None and job.status == "in_doubt" and not run.max_seq
    ):  # heard from, the clock ends the doubt
        item = seen.items[run.lineage_id]
        if (item.tab, item.state) != ("decide", "in_doubt"):
            yield f"{run.external_id} is in doubt, and nobody is asked"


def a_delivery_goes_on(step: Step) -> Iterator[str]:
    """A planned one has a job that will send it, an attempted one a worker that holds its fence."""
    for delivery in step.now.deliveries.values():
        campaign = step.now.campaigns[delivery.campaign_id]
        sending = [
            job
            for job in step.now.jobs_of(campaign.id, *LIVE)
            if job.delivery_id in (None, delivery.id)
        ]  # fmt: skip
        waits = delivery.state == "planned" and campaign.status in ("sending", "finished", "stopped")
        if waits and not sending:
            yield f"nothing will send to {delivery.address}, in a campaign that is {campaign.status}"
        if delivery.state == "attempting" and not any(
            (job.id, job.fence, job.status) == (delivery.job_id, delivery.fence, "running") for job in sending
        ):
            yield f"the message to {delivery.address} is in nobody's hands"


def the_outside_is_known(step: Step) -> Iterator[str]:
    """What the other side took is never held for not sent or not begun, nor the other way round, but by a person."""
    for call in step.outside.handovers:
        run = step.now.runs[call.run_id]
        says_not = ("replay_again", "resolve_run") if call.in_place else ("replay_again",)
        again = any(d.target_id == call.job_id for d in step.now.persons(*says_not))
        if call.took_it and run.started_at is None and not again:
            yield f"the runtime took {run.external_id}, which counts as never begun"
    for delivery in step.now.deliveries.values():
        mails = [mail for mail in step.outside.mails if mail.message_id == delivery.message_id]
        again = [d.seq for d in step.now.persons("send_again") if d.target_id == delivery.id]
        since = max(again, default=0)
        taken = any(mail.took_it and mail.head >= since for mail in mails)
        if taken and delivery.state not in ("attempting", "in_doubt", "sent"):
            yield f"the server took the message to {delivery.address}, which counts as {delivery.state}"
        happened = any(d.target_id == delivery.id for d in step.now.persons("resolve_delivery"))
        if delivery.state == "sent" and not happened and not any(mail.took_it for mail in mails):
            yield f"the message to {delivery.address} counts as sent, and the server never took it"


def the_ledger_adds_up(step: Step) -> Iterator[str]:
    """Each addressable recipient has one delivery, the others none; what was sealed does not change."""
    for version in step.now.versions.values():
        wanted = [
            (row.id, row.position, row.address)
            for row in step.now.audience.values()
            if row.version_id == version.id and row.state == "addressable"
        ]
        found = [
            (delivery.audience_row_id, delivery.position, delivery.address)
            for delivery in step.now.deliveries.values()
            if delivery.version_id == version.id
        ]
        if sorted(wanted) != sorted(found):
            yield f"{len(wanted)} recipients were sealed and there are {len(found)} deliveries"
    for noun in ("versions", "audience"):
        rows = getattr(step.now, noun)
        if any(rows.get(id) != row for id, row in getattr(step.before, noun).items()):
            yield f"a sealed row of {noun} changed"


def the_log_is_one_chain(step: Step) -> Iterator[str]:
    """Numbered 1 to n, each entry hashed over the one before; what was written stays."""
    if step.now.bad_links:
        yield f"the chain of the log breaks at {[row.seq for row in step.now.bad_links]}"
    if list(step.now.decisions[: len(step.before.decisions)]) != list(step.before.decisions):
        yield "an entry of the log changed"


LAWS: tuple[Callable[[Step], Iterator[str]], ...] = (
    at_most_one_active_replay,
    a_handover_needs_a_decision,
    a_message_needs_a_person,
    nobody_gets_two_versions,
    only_the_newest_version_goes_out,
    an_intent_comes_first,
    one_job_for_each_release,
    only_the_provably_empty_starts_without_force,
    a_decision_is_about_what_was_shown,
    a_late_event_is_late,
    a_settled_record_stays,
    what_is_over_stays,
    a_doubt_waits_for_somebody,
    nobody_settles_what_a_newer_version_settled,
    a_job_ends_or_has_a_way_on,
    a_delivery_goes_on,
    the_outside_is_known,
    the_ledger_adds_up,
    the_log_is_one_chain,
    everything_stands_where_it_belongs,
)
