"""The queue's page."""

from tests.world import World, answer, call


def test_an_interrupted_run_waits_for_a_decision_and_says_what_it_did(world: World) -> None:
    world.run("refund-1", call("c1", "look_up"), answer("c1"), call("c2", "send_email", to="ann@example.com"))

    page = world.visit("support").get(world.at())

    assert page.status_code == 200
    html = page.content.decode()
    assert "refund-1" in html
    assert "Called look_up and send_email, to ann@example.com; send_email has no answer." in html
    assert "Called tools" in html
