"""Whoever sees to a call that is to propose a campaign is killed and frozen: it is proposed once, and not by halves."""

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest

from approvals.models import CalledCampaign, Campaign, Decision, Delivery, Run, Runtime, Version
from approvals.services import payloads, sweep
from tests.faults.lab import Lab, eventually

pytestmark = [pytest.mark.faults, pytest.mark.django_db(transaction=True)]

# Whether the campaign is there when a worker stops there.
POINTS = [("propose.before_commit", False), ("propose.settled", True)]
TOOL = "propose_campaign"
RECIPIENTS = 300


@pytest.fixture
def lab(process_env: dict[str, str]) -> Lab:
    return Lab(process_env)


@pytest.fixture
def run(lab: Lab) -> Run:
    """It called the tool twice, the second time with arguments that cannot be used, and broke off."""
    lab.read(lambda: Runtime.objects.update(campaign_tools=[TOOL]))
    run = lab.dead_run()
    for seq, subject in ((2, "Hello"), (3, "")):
        args = {
            "from": "news@shop.example.com",
            "subject": subject,
            "text": "Dear all",
            "recipients": [{"email": f"p{n}@example.com"} for n in range(RECIPIENTS)],
        }
        stored = lab.read(lambda args=args: payloads.store({"args": args}))
        lab.event(
            run,
            seq,
            "tool_call",
            call_id=f"p{seq}",
            name=TOOL,
            payload_id=stored.id,
            payload_hash=stored.hash,
        )
    return run


@pytest.fixture
def words(lab: Lab, run: Run) -> list[str]:
    return ["-m", "tests.faults.worker", "propose", str(run.id), str(lab.workspace_id)]


def counted(lab: Lab) -> dict[str, int]:
    """Rows of everything that a proposal makes."""
    return {
        model.__name__: lab.read(model.objects.count) for model in (Campaign, Version, Delivery, Decision)
    }


def became(lab: Lab) -> list[str]:
    return list(
        lab.read(lambda: list(CalledCampaign.objects.order_by("seq").values_list("state", flat=True)))
    )


def waiting(lab: Lab) -> list[UUID]:
    return [item.id for item in sweep.due(at_most=99) if item.kind == "propose"]


def assert_proposed_once(lab: Lab) -> None:
    assert became(lab) == ["proposed", "refused"]
    assert counted(lab) == {"Campaign": 1, "Version": 1, "Delivery": RECIPIENTS, "Decision": 0}
    assert waiting(lab) == []


@pytest.mark.parametrize(("point", "there"), POINTS)
def test_killed_anywhere_it_is_found_again_and_proposed_once(
    point: str, there: bool, lab: Lab, run: Run, words: list[str]
) -> None:
    assert waiting(lab) == [run.id]
    assert lab._run(words, FAULT_AT=point) == -9
    assert set(counted(lab).values()) == ({0, 1, RECIPIENTS} if there else {0})
    assert became(lab) == (["proposed", "pending"] if there else ["pending", "pending"])
    assert waiting(lab) == [run.id]
    assert lab._run(words) == 0
    assert_proposed_once(lab)


def test_frozen_before_its_commit_it_keeps_the_others_waiting_for_a_moment_only(
    lab: Lab, words: list[str]
) -> None:
    lab.env["IDLE_IN_TRANSACTION_S"] = "2"
    with lab._frozen(words, "propose.before_commit") as frozen:

        def others_are_through() -> bool:
            assert lab._run(words) == 0
            return became(lab) == ["proposed", "refused"]

        eventually(others_are_through, "another worker saw to it")
        assert_proposed_once(lab)
        assert lab.wake(frozen) != 0
        assert "terminating connection due to idle-in-transaction timeout" in lab.said
    assert_proposed_once(lab)


def test_frozen_after_it_and_woken_it_changes_nothing_more(lab: Lab, words: list[str]) -> None:
    with lab._frozen(words, "propose.settled") as frozen:
        assert lab._run(words) == 0
        assert_proposed_once(lab)
        assert lab.wake(frozen) == 0, lab.said
    assert_proposed_once(lab)


def test_many_workers_at_once_propose_once(lab: Lab, words: list[str]) -> None:
    with ThreadPoolExecutor(4) as crowd:
        assert [*crowd.map(lambda _: lab._run(words), range(4))] == [0] * 4
    lab._run(words)
    assert_proposed_once(lab)
