"""The order of what stands on Setup: what an operator has to do first comes first."""

from __future__ import annotations

import re

from approvals.db.binding import bind
from approvals.services import setup
from tests.house import OPERATOR
from tests.views.forms import form_of, send
from tests.views.test_callbacks import set_to, tried
from tests.views.test_setup import added, look, observed
from tests.world import World


def headings(html: str) -> list[str]:
    """The names of the cards and the sections, from the top."""
    found = re.findall(r"<h2[^>]*>(.*?)</h2>", html)
    return [re.sub("<[^>]*>", "", one) for one in found]


def test_where_there_is_no_runtime_one_is_added_before_anything_else(world: World) -> None:
    with bind(setup.create_workspace(by=OPERATOR, name="Empty").id):
        setup.add_member(by=OPERATOR, email=world.people["admin"].email, roles=["admin"])
    html = world.visit("admin").get("/w/empty/setup/").content.decode()
    assert headings(html)[-2:] == ["Add an ADK runtime", "How this workspace sends"]


def test_once_there_is_one_it_is_looked_at_first_and_another_is_added_last(world: World) -> None:
    page = look(world)
    assert headings(page.html) == ["runtime", "How this workspace sends", "Add another ADK runtime"]
    assert (page.links["How it sends"], page.links["Add another runtime"]) == ("#sending", "#add")


def test_a_runtime_that_needs_somebody_stands_before_those_that_are_well(world: World) -> None:
    added(world)
    observed(world, read_at=1, pass_ended_at=1)
    assert headings(look(world).html)[:2] == ["runtime", "support-prod"]
    observed(world, trouble="No answer.", troubled_since=9)
    assert headings(look(world).html)[:2] == ["support-prod", "runtime"]
    observed(world, trouble="", troubled_since=0, read_at=720)
    assert "Nobody looks" in look(world)
    assert headings(look(world).html)[:2] == ["support-prod", "runtime"]


def test_so_does_one_whose_agents_could_not_be_told(world: World) -> None:
    with bind(world.workspace.id):
        setup.add_runtime(by=OPERATOR, name="alpha", kind="http", base_url="http://alpha.example")
    set_to(world, "https://agents.example/told")
    world.rejected(world.campaign("Winter schedule"))
    assert headings(look(world).html)[:2] == ["alpha", "runtime"]
    tried(world)
    assert headings(look(world).html)[:2] == ["runtime", "alpha"]


def test_a_secret_that_is_shown_once_stands_above_everything_else(world: World) -> None:
    runtime = added(world)
    client = world.visit("admin")
    form = form_of(client.get(world.at(f"setup/{runtime.id}/")), "/callback")
    html = send(client, form, callback_url="https://agents.example/told").content.decode()
    assert headings(html)[0] == "Its signing secret, shown only now"
