"""What runs and campaigns did, in short."""

from approvals.models import Run
from approvals.selectors import did
from approvals.selectors.did import Attempt
from tests.views.of_versions import half_sent, renewed
from tests.world import World, answer, call, ended, failure, said


def attempt(world: World, run: Run) -> Attempt:
    return world.read(lambda: did.runs_in_short([run.id]))[0]


def test_calls_are_grouped_by_tool_and_state_in_the_order_of_the_first(world: World) -> None:
    run = world.run(
        "", call("c1", "b_tool", to="x@example.com"), call("c2", "a_tool"), answer("c2"), call("c3", "b_tool"),
        call("c4", "b_tool"), failure("c4", "no"),
    )  # fmt: skip

    found = [(calls.name, calls.state, calls.count, calls.recipients) for calls in attempt(world, run).calls]

    assert found == [
        ("b_tool", "open", 2, ("x@example.com",)),
        ("a_tool", "answered", 1, ()),
        ("b_tool", "failed", 1, ()),
    ]


def test_a_long_payload_is_not_opened_for_one_line(world: World) -> None:
    run = world.run("", call("c1", "send_email", to="x@example.com", body="x" * did.READ))

    assert attempt(world, run).calls[0].recipients == ()


def test_an_error_is_read_whatever_its_shape(world: World) -> None:
    def error(value: object) -> str:
        run = world.run("", ended("failed", value))  # type: ignore[arg-type]
        return attempt(world, run).error

    assert error("the quota is used up") == "the quota is used up"
    assert error({"message": "no such model", "code": 5}) == "no such model"
    assert error({"code": 5}) == '{"code":5}'
    assert error([1]) == "[1]"


def test_the_record_is_the_one_that_postgres_derives(world: World) -> None:
    none = world.run("", said("x"), ended("failed"))
    called = world.run("", call("c1", "t"), ended())
    unknown = world.run("", said("x"))

    kinds = [(attempt(world, run).record, attempt(world, run).why) for run in (none, called, unknown)]

    assert kinds == [("none", "none"), ("called", "called"), ("unknown", "no_end")]


def test_attempts_come_oldest_first_with_the_job_that_made_them(world: World) -> None:
    run = world.run("refund-1", call("c1", "t"))
    started = world.forced(run)

    found = world.read(lambda: did.attempts_of([run.lineage_id]))[run.lineage_id]

    assert [(one.external_id, one.began, one.job_status) for one in found] == [
        ("refund-1", True, ""),
        ("refund-1#2", False, "queued"),
    ]
    assert started.run.id == found[1].id


def test_runs_come_in_the_order_they_were_asked_for(world: World) -> None:
    runs = [world.run(name, said("x")) for name in ("a", "b", "c")]
    asked = [runs[2].id, runs[0].id, runs[1].id]

    assert [one.id for one in world.read(lambda: did.runs_in_short(asked))] == asked
    assert world.read(lambda: did.runs_in_short([])) == []
    assert world.read(lambda: did.attempts_of([])) == {}


def test_a_mailing_counts_its_deliveries_and_who_gets_nothing(world: World) -> None:
    campaign = world.campaign(
        "Winter", ["a@example.com", "b@example.com", "c@example.com", "none", "neither"]
    )
    world.approved(campaign)
    world.sent(campaign, "sent", "failed", "in_doubt")

    mailing = world.read(lambda: did.mailings_of([campaign.id]))[campaign.id]

    assert (mailing.subject_line, mailing.excluded, mailing.recipients) == ("Hello {{ name }}", 2, 3)
    assert {state: number for state, number in mailing.deliveries.items() if number} == {
        "sent": 1,
        "failed": 1,
        "in_doubt": 1,
    }


def test_a_mailing_of_several_versions_tells_what_was_sent_before_and_waits(world: World) -> None:
    campaign = half_sent(world, "sent", "in_doubt", "failed", of=5)
    renewed(world, campaign)

    mailing = world.read(lambda: did.mailings_of([campaign.id]))[campaign.id]

    assert (mailing.version, mailing.recipients) == (2, 3), "the one who failed and the two who are left"
    assert dict(mailing.earlier) == {"sent": 1, "in_doubt": 1, "failed": 1}
