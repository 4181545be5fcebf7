"""Sample presenter objects of a campaign with several versions, of one that was returned, and of an older version."""

from __future__ import annotations

from dataclasses import replace

from dashboard.presenters import chips
from dashboard.presenters.acts import Act, ReasonAct
from dashboard.presenters.campaigns import CampaignActs, Count
from dashboard.presenters.parts import Fact, Link
from dashboard.presenters.text import reveal, reveal_line
from dashboard.presenters.versions import VersionLine, VersionPage, Versions
from tests.templates.samples import DIGEST, HOSTILE, ago
from tests.templates.samples_more import AUDIENCE, CAMPAIGN, CAMPAIGN_SENDING
from tests.templates.samples_run import ACT

VERSIONS = Versions(
    (
        VersionLine(
            name="Version 3",
            url="/w/northwind/campaigns/1/",
            by=reveal_line("token sl_9f2c…"),
            at=ago(minutes=2),
            decided=reveal_line("waits for a decision"),
            decided_at=None,
            counts=(),
            here=True,
        ),
        VersionLine(
            name="Version 2",
            url="/w/northwind/campaigns/1/versions/2/",
            by=reveal_line(f"Robin {HOSTILE}"),
            at=ago(hours=1),
            decided=reveal_line("returned by Mia Berg"),
            decided_at=ago(minutes=50),
            counts=(),
        ),
        VersionLine(
            name="Version 1",
            url="/w/northwind/campaigns/1/versions/1/#settle",
            by=reveal_line("token sl_9f2c…"),
            at=ago(hours=2),
            decided=reveal_line("approved by Mia Berg"),
            decided_at=ago(hours=2),
            counts=(
                Count("sent", "150", "ok"),
                Count("in doubt", "2", "warn"),
                Count("skipped", "248", "quiet"),
            ),
            waits="2 to settle",
        ),
    ),
    more="4 older ones are not listed.",
)
EARLIER = (
    "Version 1 before it: 150 sent, 2 in doubt. Whoever got that, or may have, gets nothing more; this version is for"
    " 248 others."
)
CAMPAIGN_VERSIONS = replace(
    CAMPAIGN,
    audience=replace(AUDIENCE, earlier=EARLIER),
    versions=VERSIONS,
    acts=replace(
        CAMPAIGN.acts,
        approve=Act(**ACT, refused="You proposed this version yourself, so somebody else has to approve it."),
        return_=ReasonAct(**ACT, reason="no", reason_error="Give a reason of at least 10 characters."),
        reject=ReasonAct(**ACT),
    ),
)
CAMPAIGN_RETURNED = replace(
    CAMPAIGN,
    state=chips.campaign_state("returned"),
    send_by=None,
    new_version=None,
    acts=CampaignActs(
        reject=ReasonAct(**ACT),
        closed="It was returned with comments. What is sent is another version, with an approval of its own.",
        comment=reveal(f"The date is wrong.\n{HOSTILE}"),
        new_version=Link("New version", "/w/northwind/campaigns/1/new-version"),
    ),
)
VERSION = VersionPage(
    title="Version 1 of Winter schedule change",
    heading=reveal_line("Winter schedule change"),
    number="Version 1",
    campaign=Link("The campaign", "/w/northwind/campaigns/1/"),
    note="Version 3 took its place, and nothing more of this one goes out by itself. 150 sent, 2 in doubt.",
    facts=(
        Fact("Proposed", ago(hours=2)),
        Fact("Proposed by", reveal_line("token sl_9f2c…")),
        Fact("Decided", reveal_line("approved by Mia Berg")),
        Fact("Digest", DIGEST[:12]),
    ),
    sends="What it said",
    preview=CAMPAIGN.preview,
    audience=AUDIENCE,
    everybody=Link("See every recipient", "/w/northwind/campaigns/1/versions/1/recipients"),
    versions=VERSIONS,
    troubled=CAMPAIGN_SENDING.troubled[:1],
)
