"""The campaign page."""

import re

from tests.views.reading import Read
from tests.world import World


def test_a_reviewer_reads_the_campaign_and_approves_it(world: World) -> None:
    campaign = world.campaign("Winter schedule")
    client = world.visit("reviewer")
    page = Read(client.get(world.at(f"campaigns/{campaign.id}/")))
    assert page.status == 200
    found = re.search(r'name="shown" value="([^"]+)"', page.html)
    assert found
    answer = client.post(world.at(f"campaigns/{campaign.id}/approve"), {"shown": found[1]}, follow=True)
    assert answer.redirect_chain == [(world.at(f"campaigns/{campaign.id}/"), 303)]
    assert "Approved. Sending is queued" in Read(answer)
