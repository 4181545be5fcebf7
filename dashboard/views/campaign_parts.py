"""What the pages of a campaign and of its versions read alike: the message that is shown, and the lists beside it."""

from uuid import UUID

from django.utils import timezone

from approvals.access.actors import Actor
from approvals.access.desk import campaign_for
from approvals.exceptions import NotFound
from approvals.rules.content import fields_of
from approvals.selectors import campaigns as selectors
from approvals.selectors.campaign_versions import TROUBLED, VersionFacts, number_with
from approvals.selectors.campaigns import CampaignFacts
from approvals.selectors.lacking import lacking
from dashboard.forms import campaigns as forms
from dashboard.presenters import build_message
from dashboard.presenters.build_campaign import Listed, Troubles
from dashboard.presenters.campaigns import Preview
from dashboard.presenters.places import Places

SIZE = 50  # rows of each list
CHOICES = 100  # recipients that are offered in a list; of more, one is asked for by address
OLDER = 5  # older versions whose open deliveries stand on the campaign's page; further ones on their own


def facts_with(actor: Actor, campaign_id: UUID, delivery_id: UUID) -> CampaignFacts:
    """The campaign with the version that this delivery is of; NotFound where it is none of its."""
    campaign = campaign_for(actor, campaign_id)
    number = number_with(campaign.id, delivery_id)
    if number is None:
        raise NotFound()
    return selectors.facts_of(campaign, number)


def preview(
    slug: str, facts: CampaignFacts, asked: forms.Asked, *, pushes: bool = True
) -> tuple[build_message.Chosen, Preview]:
    """(whom the address names, the message to them); `pushes` is that of the `Picker`."""
    version, delivery_id = facts.version_id, asked.delivery_id
    wanted = selectors.recipient_of(version, delivery_id=delivery_id, address="" if delivery_id else asked.to)
    known = wanted is not None or not asked.to
    chosen = build_message.Chosen(
        recipient=wanted if known else selectors.recipient_of(version),
        found=known,
        addresses=selectors.addresses(version, at_most=CHOICES),
    )
    return chosen, build_message.preview_of(
        facts, chosen, places=Places(slug), asked=asked, now=timezone.now(), pushes=pushes
    )


def listed(facts: CampaignFacts, asked: forms.Asked) -> Listed:
    """What stands under *Who gets it*."""
    return Listed(
        excluded=selectors.excluded(facts.version_id, after=asked.excluded, size=SIZE),
        lacking=lacking(facts.version_id, fields_of(facts.content)),
    )


def troubles(facts: CampaignFacts, asked: forms.Asked, *, with_older: bool) -> list[Troubles]:
    """The deliveries in doubt or failed: of the version that is shown, and of those before it."""
    older = [one for one in facts.before if one.open_troubles][:OLDER] if with_older else []
    found = [
        _troubles(one, state, asked if one.id == facts.version_id else forms.Asked())
        for one in [facts.own, *older]
        for state in TROUBLED
        if one.waiting.get(state)
    ]
    return [one for one in found if one.rows]


def _troubles(one: VersionFacts, state: str, asked: forms.Asked) -> Troubles:
    """The list behind the position that is asked for; from its beginning once nothing stands there any more."""
    after: int = getattr(asked, state)
    rows, more = selectors.troubled(one.id, state, after=after, size=SIZE)
    if not rows and after:
        rows, more = selectors.troubled(one.id, state, size=SIZE)
    return Troubles(one, state, rows, more)
