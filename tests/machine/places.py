"""Where a lineage or campaign stands on the queue, derived again from what it is made of."""

from collections.abc import Iterator
from uuid import UUID

from tests.machine.seen import Row, Seen
from tests.machine.step import Step, named


def everything_stands_where_it_belongs(step: Step) -> Iterator[str]:
    """The queue's rows say what runs, jobs, campaigns and deliveries say."""
    for lineage_id, _ in step.now.lineages():
        item, (tab, state) = step.now.items[lineage_id], _place_of_lineage(step.now, lineage_id)
        if (item.tab, item.state, item.run_id) != (tab, state, step.now.head(lineage_id).id):
            name = named(step.now, lineage_id)
            yield f"{name} stands on {item.tab} as {item.state}, not on {tab} as {state}"
    for campaign in step.now.campaigns.values():
        item, (tab, state) = step.now.items[campaign.id], _place_of_campaign(step.now, campaign)
        if (item.tab, item.state) != (tab, state):
            yield f"campaign {campaign.name} stands on {item.tab} as {item.state}, not on {tab} as {state}"


def _place_of_lineage(seen: Seen, lineage_id: UUID) -> tuple[str, str]:
    attempts, head, last = seen.lineage(lineage_id), seen.head(lineage_id), seen.last_job(lineage_id)
    status = last.status if last else ""
    if status in ("in_doubt", "paused"):
        return "decide", status
    if status in ("held", "queued"):
        return "progress", "queued"
    if any(run.status == "running" for run in attempts):
        return "progress", "running"
    if head.dismissed_at is not None:
        return "history", "dismissed"
    if head.status in ("interrupted", "failed"):
        lost = last is not None and status == "failed" and last.run_id != head.id
        return "decide", "replay_failed" if lost else head.status
    if head.status == "completed" and seen.held_calls(head.id):
        return "decide", "awaiting"
    return "history", head.status


def _place_of_campaign(seen: Seen, campaign: Row) -> tuple[str, str]:
    open_states = {
        d.state
        for d in seen.deliveries.values()
        if d.campaign_id == campaign.id and d.state in ("in_doubt", "failed") and d.resolved_at is None
    }
    if campaign.status == "paused" or seen.jobs_of(campaign.id, "paused"):
        return "decide", "paused"
    if open_states:
        return "decide", max(open_states)  # a doubt before a refusal
    where = {"pending": "decide", "returned": "progress", "approved": "progress", "sending": "progress"}
    return where.get(campaign.status, "history"), campaign.status
