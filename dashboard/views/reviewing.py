"""What is read for a review: whom it reaches again, and what it is compared with, while somebody can still decide."""

from datetime import datetime

from django.conf import settings

from approvals.rules.content import fields_of
from approvals.selectors import compared, contacts, recipients
from approvals.selectors.campaigns import CampaignFacts
from dashboard.forms import campaigns as forms
from dashboard.presenters import build_review
from dashboard.presenters.build_review import Compared
from dashboard.presenters.places import Places
from dashboard.presenters.review import Review

AT_ONCE = 50_000  # recipients up to whom everything is compared whenever the page is opened
# What is returned can still be rejected, and whoever does that sees what whoever returned it saw.
_DECIDABLE = ("pending", "returned", "approved")


def review_of(facts: CampaignFacts, places: Places, asked: forms.Asked, *, now: datetime) -> Review:
    """The part of the page that looks beyond the message."""
    decidable = facts.status in _DECIDABLE
    long = decidable and facts.recipients > AT_ONCE and not asked.compare
    if long or not decidable:
        return build_review.review_of(
            facts,
            contacts=None,
            linked=(0, ()),
            compared=(),
            senders=(),
            places=places,
            ask=places.campaign(facts.id, forms.address(asked, compare="now")) if long else "",
            now=now,
            allowed=settings.ALLOWED_RECIPIENT_DOMAINS,
        )
    before = compared.approved_before(facts.id, facts.agent)
    earlier = (
        compared.reviewed_before(facts.id, facts.version),
        compared.nearest(facts.content, before),
    )
    return build_review.review_of(
        facts,
        linked=recipients.linked(facts.version_id) if fields_of(facts.content) else (0, ()),
        contacts=contacts.contacts_of(facts.version_id, campaign_id=facts.id, agent=facts.agent),
        compared=[
            Compared(one, compared.lists_changed(facts.version_id, one.version_id)) for one in earlier if one
        ],
        senders=[version.from_address for version, _ in before],
        places=places,
        ask="",
        now=now,
        allowed=settings.ALLOWED_RECIPIENT_DOMAINS,
    )
