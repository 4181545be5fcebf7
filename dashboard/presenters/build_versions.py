"""Filling what is to be known of every version of a campaign, and the page of one that is not the newest."""

from collections.abc import Mapping
from datetime import datetime

from approvals.selectors.campaign_versions import Said, VersionFacts
from approvals.selectors.campaigns import CampaignFacts
from dashboard.presenters.ages import when
from dashboard.presenters.build_review import DECIDED_AS
from dashboard.presenters.build_sending import counts_of, tally_of
from dashboard.presenters.campaigns import Audience, Preview, ResolveDeliveries
from dashboard.presenters.parts import Fact, Link
from dashboard.presenters.places import Places
from dashboard.presenters.text import count, plain, plural, reveal_line, summary_line
from dashboard.presenters.versions import VersionLine, VersionPage, Versions

LISTED = 20  # versions in the list


def versions_of(
    facts: CampaignFacts, decided: Mapping[str, Said], *, places: Places, now: datetime
) -> Versions | None:
    """The list of all versions; None where there is only one, or `facts` have none to tell apart."""
    if len(facts.versions) < 2:
        return None
    lines = tuple(_line(one, facts, decided.get(one.digest), places, now) for one in facts.versions[:LISTED])
    left_out = len(facts.versions) - len(lines)
    more = f"{plural(left_out, 'older one is', 'older ones are')} not listed." if left_out else ""
    return Versions(lines, more)


def _line(
    one: VersionFacts, facts: CampaignFacts, decision: Said | None, places: Places, now: datetime
) -> VersionLine:
    newest = one.number == facts.versions[0].number
    waits = f"{count(one.open_troubles)} to settle" if one.open_troubles else ""
    return VersionLine(
        name=f"Version {count(one.number)}",
        url=places.campaign(facts.id, version=None if newest else one.number) + ("#settle" if waits else ""),
        by=reveal_line(one.proposer_name or "nobody knows whom"),
        at=when(one.created_at, now),
        decided=reveal_line(_decided(one, facts, decision, newest=newest)),
        decided_at=when(decision.at, now) if decision else None,
        counts=counts_of(one) if one.tried or one.counts["skipped"] else (),
        waits=waits,
        here=one.id == facts.version_id,
    )


def _decided(one: VersionFacts, facts: CampaignFacts, decision: Said | None, *, newest: bool) -> str:
    if decision is not None:
        return f"{DECIDED_AS.get(decision.kind, 'decided on')} by {decision.by}"
    return "waits for a decision" if newest and facts.status == "pending" else "nobody decided on it"


def version_page(
    facts: CampaignFacts,
    preview: Preview,
    audience: Audience,
    troubled: tuple[ResolveDeliveries, ...],
    decided: Mapping[str, Said],
    *,
    places: Places,
    now: datetime,
) -> VersionPage:
    """The whole page."""
    newest = facts.versions[0]
    number = f"Version {count(facts.version)}"
    return VersionPage(
        title=f"{number} of {plain(facts.name[:150])}",
        heading=summary_line(facts.name, 200),
        number=number,
        campaign=Link("The campaign", places.campaign(facts.id)),
        note=_note(facts, newest),
        facts=_facts(facts, decided.get(facts.digest), now),
        sends="What it said",
        preview=preview,
        audience=audience,
        everybody=Link("See every recipient", places.recipients(facts.id, version=facts.version)),
        versions=versions_of(facts, decided, places=places, now=now) or Versions(()),
        troubled=troubled,
    )


def _note(facts: CampaignFacts, newest: VersionFacts) -> str:
    if facts.old is None:
        return "This is the version that counts. What can be decided about it stands on the page of the campaign."
    went = f" {tally_of(facts.own)}." if facts.own.tried else " Nothing of it was sent."
    return f"Version {count(newest.number)} took its place, and nothing more of this one goes out by itself.{went}"


def _facts(facts: CampaignFacts, decision: Said | None, now: datetime) -> tuple[Fact, ...]:
    own = facts.own
    return (
        Fact("Proposed", when(own.created_at, now)),
        *([Fact("Proposed by", reveal_line(own.proposer_name))] if own.proposer_name else []),
        Fact("Decided", reveal_line(_decided(own, facts, decision, newest=facts.old is None))),
        Fact("Digest", facts.digest[:12]),
    )
