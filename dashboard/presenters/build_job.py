"""Filling the progress of a job: where it stands, which stations it passed, and never done before it is."""

from datetime import datetime
from urllib.parse import urlencode

from approvals.selectors.job_progress import Progress
from dashboard.presenters import chips
from dashboard.presenters.ages import span, when
from dashboard.presenters.build_sending import starts
from dashboard.presenters.chips import Chip
from dashboard.presenters.parts import NOTHING, JobProgress, Link, Stage
from dashboard.presenters.places import Places
from dashboard.presenters.text import reveal_line, summary_line

STALE = "This page shows what was before. Reload it for what the replay did."
STALE_STARTED = "This page shows what was before the new run began. Reload it to see them both."
_ENDS = {
    "done": "Done",
    "failed": "Failed",
    "in_doubt": "In doubt",
    "cancelled": "Taken back",
    "paused": "Paused",
}


def job_progress(
    progress: Progress,
    *,
    places: Places,
    overdue_s: int,
    with_decision: bool = True,
    seen: str = "",
    page: str = "",
) -> JobProgress:
    """The box that follows a job; as its fragment, with the station that the rest of `page` was made at (`seen`)."""
    now = progress.now
    station = station_of(progress)
    old = page != "" and seen != station and (not progress.moving or station == "accepted")
    late = progress.overdue(overdue_s)
    return JobProgress(
        url=f"{places.job(progress.id)}?{urlencode({'seen': seen or station})}",
        state=_state(progress),
        text=_text(progress),
        stages=_stages(progress, now),
        moving=progress.moving,
        pace="2s" if station == "accepted" else "1s",
        cancellable=progress.cancellable,
        stoppable=progress.stoppable,
        alarm=(
            f"No worker has taken it for {span((now - progress.due_at).total_seconds())}."
            " Tell whoever runs this desk."
            if late
            else ""
        ),
        detail=summary_line(progress.outcome, 400) if progress.moving and progress.outcome else NOTHING,
        task=progress.task_id,
        decision=Link("The decision", places.decision(progress.decision_id)) if with_decision else None,
        result=_result(progress, places),
        stale=(STALE if not progress.moving else STALE_STARTED) if old else "",
        reload_url=page if old else "",
    )


def station_of(progress: Progress) -> str:
    """Where it stands, as far as the rest of a page depends on it."""
    return "accepted" if progress.moving and progress.accepted_at is not None else progress.status


def _state(progress: Progress) -> Chip:
    """A replay is with a worker first and with its runtime then; a worker may be all that it ever reaches."""
    if progress.status != "running" or progress.kind in ("send", "test"):
        return chips.job_state(progress.status)
    return Chip("Handed to a worker" if progress.accepted_at is None else "Accepted, running", "info")


def _text(progress: Progress) -> str:
    match progress.status:
        case "held":
            when_sent = f"It goes out {starts(progress, progress.now)}, and can be taken back until then."
            return (
                when_sent
                if progress.kind == "send"
                else "It is held for a moment, so that it can be taken back."
            )
        case "queued":
            return "It waits for a worker." if progress.claimed_at is None else "It waits to go on."
        case "running" if progress.kind in ("send", "test"):
            return "It is being sent."
        case "running" if progress.accepted_at is not None:
            return "The runtime took it; the new run goes on."
        case "running":
            return "A worker hands it to the runtime."
        case _:
            return progress.outcome or f"{_ENDS.get(progress.status, 'It ended')}."


def _stages(progress: Progress, now: datetime) -> tuple[Stage, ...]:
    """The stations in order; those passed have their time."""
    reached: list[tuple[str, datetime | None]] = [("Decided", progress.created_at)]
    if progress.status == "held" or progress.queued_at:
        reached.append(("Held", progress.created_at))
    if progress.status != "held":
        reached.append(("Queued", progress.queued_at or progress.created_at))
    if progress.claimed_at:
        reached.append(("Started", progress.claimed_at))
    if not progress.moving:
        reached.append((_ENDS.get(progress.status, progress.status), progress.finished_at))
    ahead = (
        [name for name in ("Queued", "Started", "Done") if name not in dict(reached)]
        if progress.moving
        else []
    )
    last = len(reached) - 1
    return (
        *(
            Stage(name, "now" if place == last and progress.moving else "past", when(at, now) if at else None)
            for place, (name, at) in enumerate(reached)
        ),
        *(Stage(name, "ahead") for name in ahead),
    )


def _result(progress: Progress, places: Places) -> Link | None:
    if progress.run_status == "cancelled" and progress.accepted_at is None:
        return None  # it never began
    if progress.run_id:
        return Link(reveal_line(f"The new run: {progress.run_name}"), places.run(progress.run_id))
    if progress.campaign_id:
        return Link(reveal_line(progress.campaign_name), places.campaign(progress.campaign_id))
    return None
