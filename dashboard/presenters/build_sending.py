"""Filling how far the sending of a campaign is: never sent before it is, and never finished while something is open."""

from dataclasses import replace
from datetime import UTC, datetime

from django.urls import reverse

from approvals.rules.zones import zone_stored
from approvals.selectors.campaign_versions import VersionFacts
from approvals.selectors.campaigns import CampaignFacts
from approvals.selectors.job_progress import Progress as Job
from dashboard.presenters import chips
from dashboard.presenters.ages import span
from dashboard.presenters.build_schedule import goes_out
from dashboard.presenters.campaigns import BarPart, Count, Progress
from dashboard.presenters.chips import Chip, Tone
from dashboard.presenters.parts import Link
from dashboard.presenters.places import Places
from dashboard.presenters.text import count, plain, plural

# The states of deliveries in the order of the bar, with the words for so many of them.
_STATES: tuple[tuple[str, str, Tone], ...] = (
    ("sent", "sent", "ok"),
    ("in_doubt", "in doubt", "warn"),
    ("failed", "failed", "danger"),
    ("skipped", "skipped", "quiet"),
    ("attempting", "being sent", "info"),
)
PAUSED = "Paused: until somebody lets it go on, only what is sent again to one person goes out."
_YOUNG_S = 30  # of a sending in seconds
_FAR_S = 600  # from its beginning: nobody counts the seconds
_SENDING_AGAIN = Chip("Sending again", "info")
_WITH_WORKER = Chip("Handed to a worker", "info")
_UNDECIDED = ("pending", "returned", "rejected")  # nothing of this version was ever sent


def state_of(facts: CampaignFacts) -> Chip:
    """The state of the campaign in words: one that went through without everybody getting it says so."""
    if facts.paused:
        return chips.queue_state("campaign", "paused")
    if facts.status == "finished" and on_its_way(facts):
        return _SENDING_AGAIN
    if facts.status == "finished" and _problems(facts):
        return chips.WITH_PROBLEMS
    if facts.status == "approved" and facts.job is not None:
        return _approved(facts.job)
    return chips.campaign_state(facts.status)


def _approved(job: Job) -> Chip:
    """What was approved for later says for when; the hold that everything waits out is too short for that."""
    if _claimed(job):
        return _WITH_WORKER
    chip = chips.campaign_state("approved")
    if job.chosen is None or job.status != "held" or job.due_at <= job.now:
        return chip
    at = job.due_at.astimezone(UTC)
    return replace(chip, label=f"Goes out {at.day} {at:%B %Y, %H:%M} UTC", title=chip.label)


def _problems(facts: CampaignFacts) -> bool:
    """Whether anybody may have got nothing. What failed under an earlier version counts until somebody settled it."""
    nobody = not facts.total("sent")
    return bool(nobody or facts.total("in_doubt") or facts.counts["failed"] or facts.open_troubles)


def on_its_way(facts: CampaignFacts) -> bool:
    """Whether something will still happen by itself."""
    if facts.status == "paused":
        return facts.total("attempting") > 0
    if facts.paused:
        return False
    if facts.status in ("finished", "stopped"):  # a person has some sent once more
        return facts.total("planned", "attempting") > 0
    return facts.status in ("approved", "sending")


def progress_of(
    facts: CampaignFacts, *, places: Places, back: str, overdue_s: int, now: datetime, alone: bool
) -> Progress:
    """The box that follows the sending. `alone`: as the fragment that takes the place of an earlier one."""
    job, moving = facts.job, on_its_way(facts)
    state = state_of(facts)
    begun = facts.status not in (*_UNDECIDED, "approved")
    late = job is not None and moving and job.overdue(overdue_s)
    reload = Link(_reload(facts), places.campaign(facts.id, back))
    return Progress(
        url=_with(reverse("campaign_live", args=[places.slug, facts.id]), back),
        state=state,
        text=_text(facts, now),
        earlier=earlier_of(facts),
        bar=_bar(facts) if begun else (),
        counts=counts_of(facts.own) if begun else (),
        moving=moving,
        pace=_pace(facts, now),
        can_take_back=facts.status == "approved" and job is not None and job.cancellable,
        can_pause=can_pause(facts),
        can_stop=facts.status in ("sending", "paused"),
        alarm=(
            f"No worker has taken it for {span((now - job.due_at).total_seconds())}. Tell whoever runs this desk."
            if job is not None and late
            else ""
        ),
        task=job.task_id if job else "",
        head=state if alone else None,
        reload=reload if alone and not moving else None,
    )


def can_pause(facts: CampaignFacts) -> bool:
    """Whether anybody can pause it now."""
    return facts.status == "sending" and not waits_for_somebody(facts)


def waits_for_somebody(facts: CampaignFacts) -> bool:
    """Whether the sending as a whole is paused, by a person or by trouble; then it goes on once somebody says so."""
    return any(not one.address for one in facts.paused)


def _reload(facts: CampaignFacts) -> str:
    if facts.status in ("pending", "returned"):
        return "Reload the page to decide again."
    if facts.status == "paused":
        return "Reload the page to let it go on."
    return "Reload the page to settle them." if facts.open_troubles else "Reload the page for its result."


def _text(facts: CampaignFacts, now: datetime) -> str:
    job = facts.job
    match facts.status:
        case "pending" | "returned" | "rejected":
            return _unsent(facts)
        case "approved":
            return PAUSED if facts.paused else _before(job, now)
        case "paused":
            under_way = " What is under way still ends." if facts.total("attempting") else ""
            return f"{_sent(facts)} so far. {PAUSED}{under_way}"
        case "sending":
            return f"{_sent(facts)} so far. {PAUSED if facts.paused else ''}{_rest(job, now)}"
        case _:
            return f"{_tally(facts)}{_open(facts)}"


def _unsent(facts: CampaignFacts) -> str:
    if facts.status != "pending":
        return "Nothing of it was sent." if facts.before else "Nothing was sent."
    if facts.before and facts.job is None:
        return f"Version {count(facts.version)} took the place of what was approved."
    return "The approval was taken back. Nothing was sent."


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
    rest = _rest_of(facts.own, "in_doubt", "failed", "skipped")
    return f"{', '.join([_sent(facts), *rest])}."


def tally_of(one: VersionFacts) -> str:
    """How far a version got, without its end: `150 sent, 2 in doubt`."""
    return ", ".join(
        [f"{count(one.counts['sent'])} sent", *_rest_of(one, "in_doubt", "failed", "attempting")]
    )


def _rest_of(one: VersionFacts, *states: str) -> list[str]:
    return [
        f"{count(one.counts[state])} {words}{_since(one) if state == 'failed' else ''}"
        for state, words, _ in _STATES
        if state in states and one.counts[state]
    ]


def _since(one: VersionFacts) -> str:
    """To how many of those who failed a newer version wrote since."""
    if not one.overtaken:
        return ""
    which = "" if one.overtaken == one.counts["failed"] else f"{count(one.overtaken)} of them "
    return f" ({which}written to since)"


def earlier_of(facts: CampaignFacts) -> str:
    """What went out under earlier versions, and to how many people it was sent together; empty where nothing did."""
    tried = [one for one in reversed(facts.before) if one.tried]
    if not tried:
        return ""
    said = " ".join(f"Version {count(one.number)} before it: {tally_of(one)}." for one in tried)
    if facts.status in _UNDECIDED:
        others = plural(facts.counts["planned"], "other", "others")
        return f"{said} Whoever got that, or may have, gets nothing more; this version is for {others}."
    sent = plural(facts.total("sent"), "person", "people")
    return f"{said} Together with this one it was sent to {sent}."


def _open(facts: CampaignFacts) -> str:
    again = facts.total("planned", "attempting")
    said = f" {count(again)} on the way once more." if again else ""
    if facts.open_troubles:
        said += f" For {count(facts.open_troubles)} of them somebody has to say what became of the message."
    return said


def counts_of(one: VersionFacts) -> tuple[Count, ...]:
    """The deliveries of a version by state, as the legend of its bar."""
    shown = [
        Count(words, count(one.counts[state]), tone)
        for state, words, tone in _STATES
        if one.counts[state] or state == "sent"
    ]
    if one.counts["planned"]:
        shown.append(Count("to go", count(one.counts["planned"])))
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
