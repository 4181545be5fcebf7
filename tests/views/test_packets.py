"""The evidence packet: one file that shows one entry and proves it without the product."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from approvals.access.actors import Actor, operator
from approvals.db.binding import bind
from approvals.models import Decision
from approvals.rules import verify_log
from approvals.services import decisions
from dashboard.views import decisions as views
from tests.views.reading import Read
from tests.world import World, answer, call

REASON = "The bank says that nothing was booked."
HOSTILE = "</script><script>alert(1)</script><!-- & <b>\u2028\u202e\x0c ünd 風"


def packet_of(world: World, decision: Decision, role: str = "manager") -> Any:
    return world.visit(role).get(world.at(f"decisions/{decision.id}/packet"))


def later(world: World, decision: Decision, kind: str, **evidence: Any) -> Decision:
    """One more entry about the same item; an outcome is the product's own, about a job."""
    by = Actor("system", "Secondlook", "Secondlook") if kind == "outcome" else operator("root")
    target = "job" if kind == "outcome" else "run"
    with bind(world.workspace.id), transaction.atomic():
        return decisions.record(
            by=by, kind=kind, target_kind=target, target_id=decision.target_id,
            item_id=decision.item_id, evidence=evidence,
        )  # fmt: skip


def verified(html: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    file = tmp_path / "packet.html"
    file.write_text(html, newline="")
    code = verify_log.main([str(file)])
    return code, capsys.readouterr().out


def test_it_shows_what_was_seen_decided_and_came_of_it_and_verifies(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = world.run(
        "refund-1", call("c1", "look_up", id="C-17"), answer("c1"), call("c2", "send_email", to="ann")
    )
    decision = world.forced(run, reason=REASON).decision
    later(world, decision, "outcome", run="refund-1", status="done", outcome="The new run completed.")
    world.rejected(world.campaign("Something else"))
    last = later(world, decision, "dismiss", run="refund-1", reason="Nothing is left to do.")
    response = packet_of(world, decision)

    page = Read(response)

    assert response["Content-Disposition"].startswith('attachment; filename="secondlook-northwind-')
    for fact in (
        "Sam Okafor forced a replay of refund-1", REASON, "Roles then support", "Signed in with password",
        "Agent refunds", "Customer ann@example.com", "send_email", "look_up", "ticked", decision.digest,
        "The new run completed.", "Status done", "operator root dismissed refund-1", "Nothing is left to do.",
        f"The log holds nothing more about it, up to entry {last.seq}",
    ):  # fmt: skip
        assert fact in page, fact
    assert "Something else" not in page
    code, printed = verified(page.html, tmp_path, capsys)
    assert code == 0
    assert printed.count("\nEntry") == 3
    for fact in ("Sam Okafor", "force_replay", REASON, bytes(decision.hash).hex(), "The new run completed."):
        assert fact in printed, fact
    assert "HOLDS: every entry of this packet is as it was sealed." in printed
    assert "verify that one with --anchor and a hash from above" in printed


def test_it_says_that_nothing_came_of_it(world: World) -> None:
    decision = world.rejected(world.campaign("Winter schedule"), comment="The second date is wrong.")
    page = Read(packet_of(world, decision, "reviewer"))
    assert f"The log holds nothing about what came of it, up to entry {decision.seq}" in page
    assert "The letter itself is no part of the log." in page


def test_a_file_of_its_own_can_do_nothing(world: World) -> None:
    response = packet_of(world, world.rejected(world.campaign("Winter schedule")))
    html = response.content.decode()
    for policy in (response["Content-Security-Policy"], html):
        assert "default-src 'none'; style-src 'unsafe-inline'" in policy
        assert "script-src" not in policy
    assert not re.search(r'\b(src|href|action|on\w+|style)="', html)
    assert html.count("<script") == 1
    assert response["Content-Type"] == "text/html; charset=utf-8"


def test_nothing_that_an_agent_wrote_breaks_out(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = world.run(HOSTILE, call("c1", HOSTILE, to=HOSTILE), agent=HOSTILE, subject=HOSTILE)
    decision = world.forced(run, reason="Nobody got any mail: </script>").decision
    later(world, decision, HOSTILE, run=HOSTILE, **{HOSTILE: HOSTILE})
    html = packet_of(world, decision).content.decode()
    head, _, data = html.partition('<script type="application/json" id="secondlook-log">\n')
    data, _, rest = data.partition("</script>")
    assert rest.strip() == "</body>\n</html>"
    assert not set("<>&") & set(data)
    assert "<script" not in head and "<b>" not in head and "\u202e" not in head
    code, printed = verified(html, tmp_path, capsys)
    assert code == 0
    assert "\x0c" not in printed and "\u202e" not in printed


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('"actor_name":"Sam Okafor"', '"actor_name":"Sam Nobody"', "was changed: a sealed field"),
        ("nothing was booked", "something was booked", "was changed: its payload"),
        ('"entries":1', '"entries":2', "the end is cut off"),
    ],
)
def test_a_changed_packet_is_named(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, sentence: str
) -> None:
    html = packet_of(world, world.forced(world.run("r"), reason=REASON).decision).content.decode()
    head, begins, data = html.partition("<script ")
    assert old in data
    code, printed = verified(head + begins + data.replace(old, new), tmp_path, capsys)
    assert code == 1
    assert sentence in printed
    printed_only = verified(head.replace("booked", "paid") + begins + data, tmp_path, capsys)
    assert printed_only[0] == 0, "what is printed on it is for the reader to compare"
    assert "nothing was booked" in printed_only[1]


def test_a_packet_with_two_sets_of_entries_is_refused(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    html = packet_of(world, world.forced(world.run("r"), reason=REASON).decision).content.decode()
    block = html[html.index("<script ") : html.index("</script>") + len("</script>\n")]
    code, printed = verified(html.replace("</body>", f"{block}</body>"), tmp_path, capsys)
    assert code == 1
    assert "holds entries a second time" in printed


def test_of_very_many_that_followed_the_first_are_in_it(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "PACKET_ENTRIES", 3)
    decision = world.forced(world.run("r"), reason=REASON).decision
    for _ in range(3):
        later(world, decision, "dismiss", run="r", reason="Nothing is left to do.")
    page = Read(packet_of(world, decision))
    assert "More followed than fit here. These are the first 2;" in page
    assert verified(page.html, tmp_path, capsys)[0] == 0


def test_refused_attempts_leave_nothing_else_out(
    world: World, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(views, "PACKET_ENTRIES", 3)
    decision = world.forced(world.run("refund-1", call("c1", "send_email"))).decision
    for _ in range(5):
        later(world, decision, "refused", tried="replay", said="Somebody was first.")
    last = later(world, decision, "outcome", run="refund-1", status="done", outcome="The new run completed.")
    page = Read(packet_of(world, decision))
    assert "The new run completed." in page and "Somebody was first." not in page
    assert "More followed than fit here. Refused attempts are left out." in page
    code, said = verified(page.html, tmp_path, capsys)
    assert code == 0 and last.hash.hex() in said


def test_whatever_stands_in_the_evidence_is_only_text(world: World) -> None:
    run = world.run("r")
    odd: list[Any] = [
        {
            "reason": 7,
            "lineage": [1, {"calls": [None, {"name": "<i>x</i>"}]}],
            "verdict": {"reasons": [3, {}]},
        },
        {"run": None, "name": [], "holds": True},
        {},
    ]
    for evidence in odd:
        with bind(world.workspace.id), transaction.atomic():
            decision = decisions.record(
                by=operator("<u>me</u>"), kind="odd", target_kind="run", target_id=run.id, item_id=run.lineage_id,
                evidence=evidence,
            )  # fmt: skip
        assert packet_of(world, decision).status_code == 200
    assert packet_of(world, world.read(lambda: Decision.objects.get(seq=1))).status_code == 200


def test_the_entrys_page_leads_to_it(world: World) -> None:
    decision = world.rejected(world.campaign("Winter schedule"))
    page = Read(world.visit("admin").get(world.at(f"decisions/{decision.id}/")))
    assert page.links["Evidence packet"] == world.at(f"decisions/{decision.id}/packet")
