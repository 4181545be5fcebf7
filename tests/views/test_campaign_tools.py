"""The pages about tools that propose campaigns: declared by an admin, and told at the call."""

import pytest

from approvals.models import Campaign, Decision, Run, Runtime
from approvals.services import called, campaign_tools
from tests.house import OPERATOR
from tests.views.forms import form_of, send
from tests.views.reading import Read
from tests.world import World, call, ended

pytestmark = pytest.mark.django_db

ARGS = {
    "from": "Shop <news@shop.example.com>",
    "subject": "Hello",
    "text": "Dear all",
    "recipients": [{"email": "ann@shop.example.com"}],
}


@pytest.fixture
def world() -> World:
    return World.create()


def look(world: World, path: str) -> Read:
    """The page as an admin sees it."""
    return Read(world.visit("admin").get(world.at(path)))


def tools_of(world: World) -> list[str]:
    tools: list[str] = world.read(lambda: Runtime.objects.get(id=world.runtime.id)).campaign_tools
    return tools


def declare(world: World, tool: str = "propose_campaign") -> None:
    world.read(lambda: campaign_tools.declare(by=OPERATOR, runtime=world.runtime.name, tool=tool))


def called_by(world: World, **args: object) -> Run:
    """A run that called the tool, once a worker saw to it."""
    run = world.run("offers-1", call("c1", "propose_campaign", **ARGS | args), ended())
    world.read(lambda: called.settle_next(run_id=run.id))
    return run


def test_an_admin_declares_a_tool_and_takes_it_away(world: World) -> None:
    client = world.visit("admin")
    path = world.at(f"setup/{world.runtime.id}/campaign-tools")
    answer = send(client, form_of(client.get(path), "/change"), tool="propose_campaign")
    assert (answer.status_code, answer["location"]) == (303, path)
    assert tools_of(world) == ["propose_campaign"]
    assert "propose_campaign proposes campaigns from now on" in Read(client.get(path))
    entry = world.read(lambda: Decision.objects.latest("seq"))
    assert "Ada Admin changed the runtime runtime" in look(world, f"decisions/{entry.id}/")
    answer = client.post(f"{path}/change", {"tool": "propose_campaign", "remove": "1"})
    assert answer.status_code == 303
    assert tools_of(world) == []


@pytest.mark.parametrize(("tool", "remove"), [("", ""), ("a\x0bb", ""), ("known", ""), ("unknown", "1")])
def test_what_cannot_be_declared_is_said_on_the_page(world: World, tool: str, remove: str) -> None:
    declare(world, "known")
    answer = world.visit("admin").post(
        world.at(f"setup/{world.runtime.id}/campaign-tools/change"), {"tool": tool, "remove": remove}
    )
    assert answer.status_code == 422
    assert tools_of(world) == ["known"]


def test_the_run_says_at_the_call_which_campaign_it_proposed(world: World) -> None:
    declare(world)
    run = called_by(world)
    campaign = world.read(Campaign.objects.get)
    page = look(world, f"runs/{run.id}/")
    assert "Proposed as campaign Hello, version 1." in page
    assert page.links["Hello"] == world.at(f"campaigns/{campaign.id}/")


def test_the_run_says_at_the_call_what_cannot_be_used(world: World) -> None:
    declare(world)
    run = called_by(world, recipients=[{"email": 7}])
    assert "It was to propose a campaign, but: recipients[0].email: This must be text." in look(
        world, f"runs/{run.id}/"
    )


def test_what_an_agent_wrote_is_text_there(world: World) -> None:
    declare(world)
    run = called_by(world, **{"<script>alert(1)</script>": 1})
    page = look(world, f"runs/{run.id}/")
    assert "<script>alert" not in page.html
    assert "There is no such field here." in page


def test_a_call_of_another_tool_says_nothing_of_campaigns(world: World) -> None:
    run = world.run("refund-1", call("c1", "send_email"), ended())
    assert "propose a campaign" not in look(world, f"runs/{run.id}/")
