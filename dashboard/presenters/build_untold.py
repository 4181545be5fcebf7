"""What an agent could not be told of its campaign: on the campaign's page, and for whoever sets the runtime up."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from approvals.rules.callbacks import FINISHED, NOT_BEGUN, REVISED, TYPES
from approvals.selectors.callbacks import Untold
from approvals.selectors.campaigns import CampaignFacts
from dashboard.forms.shown import pack
from dashboard.presenters.ages import when
from dashboard.presenters.campaigns import TellAgain, ToldAgain
from dashboard.presenters.hand import Hand
from dashboard.presenters.places import Places
from dashboard.presenters.setup import UntoldLine
from dashboard.presenters.text import count, reveal_line, summary_line

_NEWS: Mapping[str, str] = {
    TYPES["approve"]: "it was approved",
    TYPES["reject"]: "it was rejected",
    TYPES["return_campaign"]: "it was returned",
    TYPES["cancel_send"]: "its approval was taken back",
    TYPES["pause_send"]: "it was paused",
    TYPES["resume_send"]: "it goes on",
    TYPES["stop"]: "it was stopped",
    FINISHED: "its sending is over",
    REVISED: "somebody proposed another version of it",
    NOT_BEGUN: "it did not go out after its approval",
}


def tell_again_of(facts: CampaignFacts, hand: Hand) -> TellAgain | None:
    """The note with its button; None where there is nothing that the agent should know and does not."""
    if facts.untold is None:
        return None
    shown = pack(target=facts.id, user_id=hand.actor.id, digest=facts.digest)
    act = hand.act("campaign_tell_again", facts.id, permission="tell_again", shown=shown)
    return TellAgain(
        action=act.action,
        shown=act.shown,
        next=act.next,
        refused=act.refused,
        error=act.error,
        what=_NEWS[facts.untold.type],
        why=reveal_line(facts.untold.why),
    )


def told_again_of(facts: CampaignFacts, now: datetime) -> ToldAgain | None:
    """The note without a button, while somebody still tries; None where nobody does."""
    news = facts.retried
    if news is None:
        return None
    waits = news.next_at is not None and news.next_at > now
    tried = "It was tried once" if news.attempts == 1 else f"It was tried {count(news.attempts)} times"
    following = "1 more piece of news waits" if news.behind == 1 else f"{count(news.behind)} more news wait"
    return ToldAgain(
        what=_NEWS[news.type],
        tried=f"{tried}, last" if news.last_at and news.attempts > 1 else tried,
        last=when(news.last_at, now) if news.last_at else None,
        next_as="the next try is" if waits else "it is being tried again just now",
        next=when(news.next_at, now) if waits and news.next_at else None,
        answer=reveal_line(news.answer),
        behind=f"{following} until it is told this." if news.behind else "",
    )


def untold_lines(
    untold: Sequence[Untold], runtime_id: UUID, places: Places, now: datetime
) -> tuple[UntoldLine, ...]:
    """What one runtime could not be told, a line a campaign."""
    return tuple(
        UntoldLine(
            campaign=summary_line(one.campaign, 100),
            url=places.campaign(one.campaign_id),
            what=_NEWS[one.type],
            at=when(one.at, now),
            why=reveal_line(one.why),
        )
        for one in untold
        if one.runtime_id == runtime_id
    )
