"""A bar at the foot of every page keeps my last decisions in reach."""

from tests.views.reading import Read
from tests.world import World


def bar(world, path="", role="reviewer"):
    html = world.visit(role).get(world.at(path)).content.decode()
    return (
        html[html.index('<aside class="mine"') :].split("</aside>")[0]
        if '<aside class="mine"' in html
        else ""
    )


def test_there_is_no_bar_before_i_decided_anything(world):
    assert bar(world) == ""


def test_my_decision_is_one_click_away_from_wherever_i_am(db):
    world = World.create(hold_s=60)
    campaign = world.campaign("<Winter>")
    world.approved(campaign)
    for path in ("", "decisions/", "subjects/?name=ann@example.com"):
        shown = bar(world, path)
        assert f'href="{world.at(f"campaigns/{campaign.id}/")}"' in shown and "&lt;Winter&gt;" in shown
        assert "can still be taken back there" in shown
    page = Read(world.visit("reviewer").get(world.at(f"campaigns/{campaign.id}/")))
    assert "Take the approval back" in page
    world.sent(campaign, "sent", "sent")
    assert "Approved" in bar(world) and "taken back" not in bar(world)
    assert bar(world, role="support") == ""
