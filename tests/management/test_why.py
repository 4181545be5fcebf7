"""`manage.py why`: what an operator reads."""

import io

import pytest
from django.core.management import CommandError, call_command

from tests.world import World, call

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return World.create()


def why(world: World, query: str) -> str:
    printed = io.StringIO()
    call_command("why", "--workspace", world.workspace.slug, query, stdout=printed)
    return printed.getvalue()


def test_it_says_who_allowed_a_message_and_where_that_stands_in_the_log(world: World) -> None:
    campaign = world.campaign("Winter", recipients=["ann@example.com"])
    approval = world.approved(campaign)
    [delivery] = world.sent(campaign, "sent")
    title, answer, entries = why(world, delivery.message_id).splitlines()
    assert title.startswith("mail to ann@example.com  (Winter)  sent  ")
    assert title.endswith(delivery.message_id)
    assert answer.startswith("    Mia Berg (reviewer) approved this campaign on ")
    assert (
        entries
        == f"    Entries of the log: {world.read(lambda: type(approval).objects.get(id=approval.id).seq)}"
    )


def test_it_says_plainly_that_nobody_did(world: World) -> None:
    run = world.run("refund-1", call("c1", "pay"))
    printed = why(world, f"{run.id} c1")
    assert "call of pay  (refund-1)  open" in printed
    assert "Nobody: the runtime started this run by itself. The agent made this call in it." in printed


def test_what_an_agent_wrote_moves_no_cursor(world: World) -> None:
    world.run("refund\x1b[2J", call("c1", "pay"), subject="ann")
    printed = why(world, "ann")
    assert "\x1b" not in printed and "refund<U+001B>[2J" in printed


@pytest.mark.parametrize("query", ["nothing", "", "\udc80", "a null \0"])
def test_what_goes_by_no_such_name_is_one_sentence(world: World, query: str) -> None:
    with pytest.raises(CommandError, match="No message, run or call of this workspace has exactly this"):
        why(world, query)


def test_a_workspace_that_is_not_there_is_one_sentence(world: World) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("why", "--workspace", "nowhere", "x")
    assert "\n" not in str(refused.value)
