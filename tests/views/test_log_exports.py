"""The log as a whole on its page: where it ends, whether it was verified, and how it is taken along."""

import csv
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from approvals.access.actors import operator
from approvals.db.binding import bind, current
from approvals.rules import verify_log
from approvals.selectors import log_check, log_export
from approvals.selectors.decisions import Wanted
from approvals.selectors.log_check import Checked
from approvals.selectors.log_heads import Head
from approvals.services import log_checks
from tests.views.reading import Read
from tests.world import World, call


def sent(world: World, role: str = "manager", **asked: str) -> Any:
    return world.visit(role).get(world.at("decisions/export"), asked)


def body(response: Any) -> str:
    assert response.status_code == 200
    return b"".join(response.streaming_content).decode()


def kinds(response: Any) -> list[str]:
    return [json.loads(line)["kind"] for line in body(response).splitlines()[1:]]


def holds(text: str, tmp_path: Path, *words: str) -> bool:
    file = tmp_path / "log.jsonl"
    file.write_text(text, newline="")
    return verify_log.main([str(file), *words]) == 0


def checked(world: World, found: Checked | None = None) -> None:
    with bind(world.workspace.id):
        log_checks.record(by=operator("root"), found=found or [*log_check.check()][-1])


def test_a_manager_takes_the_whole_log_along_and_it_verifies(world: World, tmp_path: Path) -> None:
    world.forced(world.run("refund-1", call("c1", "send_email")))
    response = sent(world, show="everything")
    name = f'attachment; filename="secondlook-log-{world.workspace.slug}-7.jsonl"'
    assert response["Content-Disposition"] == name
    assert response["Cache-Control"] == "private, no-store"

    text = body(response)

    assert json.loads(text.splitlines()[0])["filter"] == {}
    assert len(text.splitlines()) == 1 + 7
    assert holds(text, tmp_path)


def test_the_filters_of_the_page_are_those_of_the_file(world: World, tmp_path: Path) -> None:
    world.forced(world.run("refund-1", call("c1", "send_email")))
    world.rejected(world.campaign("Winter schedule", ["zoe@example.com"]))

    assert kinds(sent(world)) == ["force_replay", "reject"], "as on the page, without what was set up"
    assert kinds(sent(world, kind="reject")) == ["reject"]
    assert kinds(sent(world, kind="member_added")) == ["member_added"] * 4
    assert kinds(sent(world, person=str(world.people["support"].pk))) == ["force_replay"]
    assert kinds(sent(world, recipient="Zoe@example.com")) == ["reject"]
    assert kinds(sent(world, until="2020-01-01")) == []
    text = body(sent(world, agent="refunds", **{"from": "2025-01-01"}))
    assert json.loads(text.splitlines()[0])["filter"] == {
        "agent": "refunds", "from": "2025-01-01", "show": "decisions",
    }  # fmt: skip
    assert holds(text, tmp_path)


@pytest.mark.parametrize(
    "asked",
    [
        {"from": "yesterday"}, {"until": "2025-13-40"}, {"kind": "\0"}, {"show": "some"}, {"format": "pdf"},
        {"from": "2025-12-01", "until": "2025-11-01"}, {"recipient": "x" * 10_000}, {"q": "refund"},
    ],
    ids=lambda asked: str(asked)[:40],
)  # fmt: skip
def test_a_filter_that_cannot_be_read_exports_nothing(world: World, asked: dict[str, str]) -> None:
    """A page leaves it out and says so; a file would be kept for more than it is."""
    page = Read(sent(world, **asked))
    assert page.status == 422
    assert "Nothing was exported." in page


@pytest.mark.parametrize("role", ["support", "reviewer", "admin"])
def test_only_a_manager_may(world: World, role: str) -> None:
    page = Read(sent(world, role))
    assert page.status == 403
    assert "Only members with the role manager may export the decisions" in page
    box = Read(world.visit(role).get(world.at("decisions/")))
    assert "The log as a whole" in box
    assert not [url for url in box.links.values() if "export" in url]


def test_the_head_request_sends_nothing(world: World) -> None:
    response = world.visit("manager").head(world.at("decisions/export"))
    assert (response.status_code, b"".join(response.streaming_content)) == (200, b"")


def test_no_workspace_stays_bound_while_a_reader_takes_their_time(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_export, "BATCH", 2)
    export = log_export.begin(world.workspace.id, Wanted())
    depth = len(connection.savepoint_ids)
    seen = []
    for entry in log_export.entries(export):
        assert current() is None
        assert len(connection.savepoint_ids) == depth
        seen.append(entry["seq"])
    assert seen == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("lines_of", [log_export.json_lines, log_export.csv_lines])
def test_no_more_than_a_batch_is_in_memory(
    world: World, monkeypatch: pytest.MonkeyPatch, lines_of: Callable[[log_export.Export], Iterator[str]]
) -> None:
    """However long the log is: the next entries are read once those before are gone."""
    batch, read = log_export._batch, 0

    def counted(*args: Any, **how: Any) -> list[log_export.Entry]:
        nonlocal read
        read += len(found := batch(*args, **how))
        return found

    monkeypatch.setattr(log_export, "BATCH", 2)
    monkeypatch.setattr(log_export, "_batch", counted)
    ahead = [read - taken for taken, _ in enumerate(lines_of(log_export.begin(world.workspace.id, Wanted())))]
    assert (read, len(ahead)) == (6, 1 + 6)
    assert max(ahead) <= log_export.BATCH


def test_what_is_written_meanwhile_is_not_in_it(world: World, tmp_path: Path) -> None:
    export = log_export.begin(world.workspace.id, Wanted())
    lines = log_export.json_lines(export)
    first = next(lines)
    world.rejected(world.campaign("Winter schedule"))
    text = first + "".join(lines)
    assert len(text.splitlines()) == 1 + 6
    assert holds(text, tmp_path)


def test_the_csv_is_one_row_an_entry_and_no_formula(world: World) -> None:
    comment = '=HYPERLINK("http://x";"pay")\nsecond line, "quoted"'
    world.rejected(world.campaign("@SUM(A1)"), comment=comment)
    response = sent(world, format="csv")
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    text = body(response)
    assert text.startswith("\ufeff")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
    assert [row["kind"] for row in rows] == ["reject"]
    assert rows[0]["reason"] == "'" + comment
    assert rows[0]["seq"] == "7"
    assert rows[0]["actor_name"] == "Mia Berg"
    assert json.loads(rows[0]["texts"])["campaign"] == "@SUM(A1)"


def test_the_page_says_where_the_log_ends_and_offers_what_is_listed(world: World) -> None:
    page = Read(world.visit("manager").get(world.at("decisions/"), {"kind": "reject"}))
    head = world.read(log_check.log_heads.head)
    assert f"It ends with entry 6, hash {head.hash[:12]}…" in page
    assert head.hash in page
    assert "Not verified yet." in page
    assert page.links["The whole log (JSON Lines)"] == world.at("decisions/export?show=everything")
    assert page.links["What is listed here (JSON Lines)"] == world.at("decisions/export?kind=reject")
    csv_url = page.links["What is listed here (CSV, for spreadsheets)"]
    assert csv_url == world.at("decisions/export?kind=reject&format=csv")
    for url in page.links.values():
        if "export" in url:
            assert body(world.visit("manager").get(url))


def test_the_page_says_when_it_was_verified_and_with_which_result(world: World) -> None:
    checked(world)
    page = Read(world.visit("support").get(world.at("decisions/")))
    assert "Holds Verified just now: all 6 entries hold." in page
    assert "Log verified" not in " ".join(page.rows), "it is no decision"
    everything = Read(world.visit("support").get(world.at("decisions/"), {"show": "everything"}))
    assert "operator root" in everything.row("Log verified")

    checked(world, Checked(Head(7, "0" * 64), entries=4, seq=3, first_bad=4, why="Entry 4: it is missing."))
    page = Read(world.visit("support").get(world.at("decisions/")))
    assert "Does not hold" in page
    assert "it does NOT hold. Entry 4: it is missing." in page
