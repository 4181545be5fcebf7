"""Filling how far the sending of a campaign is: never sent before it is, and never finished while something is open."""

from datetime import UTC, datetime

from django.urls import reverse

from approvals.rules.zones import zone_stored
from approvals.selectors.campaigns import CampaignFacts
from approvals.selectors.job_progress import Progress as Job
from dashboard.presenters import chips
from dashboard.presenters.ages import span
from dashboard.presenters.build_schedule import goes_out
from dashboard.presenters.campaigns import BarPart, Count, Progress
from dashboard.presenters.chips import Chip, Tone
from dashboard.presenters.parts import Link
from dashboard.presenters.places import Places
from dashboard.presenters.text import count, plain

# The states of deliveries in the order of the bar, with the words for so many of them.
_STATES: tuple[tuple[str, str, Tone], ...] = (
    ("sent", "sent", "ok"),
    ("in_doubt", "in doubt", "warn"),
    ("failed", "failed", "danger"),
    ("skipped", "skipped", "quiet"),
    ("attempting", "being sent", "info"),
)
PAUSED = "Paused: nothing more goes out until somebody lets it go on."
_YOUNG_S = 30  # of a sending in seconds
_FAR_S = 600  # from its beginning: nobody counts the seconds
_SENDING_AGAIN = Chip("Sending again", "info")
_WITH_WORKER = Chip("Handed to a worker", "info")
_WITH_PROBLEMS = Chip("Finished with problems", "warn", "It is in doubt or failed for some recipients")


def state_of(facts: CampaignFacts) -> Chip:
    """The state of the campaign in words: one that went through without everybody getting it says so."""
    if facts.paused:
        return chips.queue_state("campaign", "paused")
    if facts.status == "finished" and on_its_way(facts):
        return _SENDING_AGAIN
    if facts.status == "finished" and (facts.counts["in_doubt"] or facts.counts["failed"]):
        return _WITH_PROBLEMS
    if facts.status == "approved" and _claimed(facts.job):
        return _WITH_WORKER
    return chips.campaign_state(facts.status)


def on_its_way(facts: CampaignFacts) -> bool:
    """Whether something will still happen by itself."""
    if facts.paused:
        return False
    if facts.status in ("finished", "stopped"):  # a person has some sent once more
        return facts.counts["planned"] + facts.counts["attempting"] > 0
    return facts.status in ("approved", "sending")


def progress_of(
    facts: CampaignFacts, *, places: Places, back: str, overdue_s: int, now: datetime, alone: bool
) -> Progress:
    """The box that follows the sending. `alone`: as the fragment that takes the place of an earlier one."""
    job, moving = facts.job, on_its_way(facts)
    state = state_of(facts)
    late = job is not None and moving and job.overdue(overdue_s)
    reload = Link(_reload(facts), places.campaign(facts.id, back))
    return Progress(
        url=_with(reverse("campaign_live", args=[places.slug, facts.id]), back),
        state=state,
        text=_text(facts, now),
        bar=_bar(facts) if facts.status not in ("pending", "rejected", "approved") else (),
        counts=_counts(facts) if facts.status not in ("pending", "rejected", "approved") else (),
        moving=moving,
        pace=_pace(facts, now),
        can_take_back=facts.status == "approved" and job is not None and job.cancellable,
        can_stop=facts.status == "sending",
        alarm=(
            f"No worker has taken it for {span((now - job.due_at).total_seconds())}. Tell whoever runs this desk."
            if job is not None and late
            else ""
        ),
        task=job.task_id if job else "",
        head=state if alone else None,
        reload=reload if alone and not moving else None,
    )


def _reload(facts: CampaignFacts) -> str:
    if facts.status == "pending":
        return "Reload the page to decide again."
    return (
        "Reload the page to settle them."
        if sum(facts.waiting.values())
        else "Reload the page for its result."
    )


def _text(facts: CampaignFacts, now: datetime) -> str:
    job = facts.job
    match facts.status:
        case "pending":
            return "The approval was taken back. Nothing was sent."
        case "rejected":
            return "Nothing was sent."
        case "approved":
            return PAUSED if facts.paused else _before(job, now)
        case "sending":
            return f"{_sent(facts)} so far. {PAUSED if facts.paused else ''}{_rest(job, now)}"
        case _:
            return f"{_tally(facts)}{_open(facts)}"


def _before(job: Job | None, now: datetime) -> str:
    left = (job.due_at - now).total_seconds() if job else 0
    if job is not None and job.status == "held" and left > 0:
        return f"Goes out {starts(job, now)}; it can be taken back until then."
    if _claimed(job):
        return "A worker has it and begins with the first message."
    return "Waits for a worker; it can be taken back until one begins with it."


def starts(job: Job, now: datetime) -> str:
    """When what is held begins, within a sentence: in the words of whoever chose the time, or how soon and when."""
    if job.chosen is not None:
        at, zone = job.chosen
        return goes_out(at, zone_stored(zone), now)
    return f"in {span((job.due_at - now).total_seconds())}, at {job.due_at.astimezone(UTC):%H:%M:%S} UTC"


def _claimed(job: Job | None) -> bool:
    return job is not None and job.status == "running"


def _pace(facts: CampaignFacts, now: datetime) -> str:
    """How long until the fragment asks again: often while people wait for it to begin, and as long as it is young."""
    if facts.job and facts.job.status == "held" and (facts.job.due_at - now).total_seconds() > _FAR_S:
        return "30s"
    since = facts.job.claimed_at if facts.job and facts.status == "sending" else None
    return "3s" if since and (now - since).total_seconds() > _YOUNG_S else "1s"


def _rest(job: Job | None, now: datetime) -> str:
    """Why it does not go on at this moment, where it does not."""
    if job is None or job.status != "queued" or not job.outcome:
        return ""
    left = (job.due_at - now).total_seconds()
    goes_on = f" It goes on in {span(left)}." if left > 0 else ""
    return f" {plain(job.outcome).rstrip('.')}.{goes_on}"


def _sent(facts: CampaignFacts) -> str:
    return f"{count(facts.counts['sent'])} of {count(facts.recipients)} sent"


def _tally(facts: CampaignFacts) -> str:
    rest = [
        f"{count(facts.counts[state])} {words}"
        for state, words, _ in _STATES[1:]
        if facts.counts[state] and state != "attempting"
    ]
    return f"{', '.join([_sent(facts), *rest])}."


def _open(facts: CampaignFacts) -> str:
    again = facts.counts["planned"] + facts.counts["attempting"]
    said = f" {count(again)} on the way once more." if again else ""
    waiting = sum(facts.waiting.values())
    if waiting:
        said += f" For {count(waiting)} of them somebody has to say what became of the message."
    return said


def _counts(facts: CampaignFacts) -> tuple[Count, ...]:
    shown = [
        Count(words, count(facts.counts[state]), tone)
        for state, words, tone in _STATES
        if facts.counts[state] or state == "sent"
    ]
    if facts.counts["planned"]:
        shown.append(Count("to go", count(facts.counts["planned"])))
    return tuple(shown)


def _bar(facts: CampaignFacts) -> tuple[BarPart, ...]:
    parts, start = [], 0.0
    for state, words, tone in _STATES:
        width = 100 * facts.counts[state] / (facts.recipients or 1)
        if width:
            parts.append(BarPart(f"{start:.2f}", f"{width:.2f}", tone, words))
        start += width
    return tuple(parts)


def _with(url: str, query: str) -> str:
    return f"{url}?{query}" if query else url
