"""What somebody tells support: the ids of a run or a campaign, whole and to be copied."""

from __future__ import annotations

import re
from typing import Any

from tests.world import World


def copied(world: World, path: str) -> dict[str, str]:
    """What each button of a page copies, by the name that its label says."""
    html = world.visit("support").get(world.at(path)).content.decode()
    found = re.findall(r'<dt>([^<]*)</dt><dd><code class="id">.*?data-copy="([^"]*)"', html)
    return dict(found)


def test_a_campaigns_page_has_both_of_its_ids(world: World) -> None:
    campaign: Any = world.campaign("Winter schedule")
    assert copied(world, f"campaigns/{campaign.id}/") == {
        "External id": campaign.external_id,
        "Campaign id": str(campaign.id),
    }


def test_a_runs_page_has_both_of_its_ids(world: World) -> None:
    run = world.run("refund-4711")
    assert copied(world, f"runs/{run.id}/") == {"External id": "refund-4711", "Run id": str(run.id)}


def test_of_a_long_one_all_of_it_is_copied(world: World) -> None:
    name = "run/" + "x" * 300
    run = world.run(name)
    assert copied(world, f"runs/{run.id}/")["External id"] == name
