"""`manage.py log`: a file that is whole or not there, one sentence for whatever is wrong, and a check in Postgres."""

import csv
import io
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import transaction

from approvals.access.actors import operator
from approvals.db.binding import bind
from approvals.management.commands.log import Command
from approvals.models import Decision
from approvals.rules import verify_log
from approvals.selectors import log_check, log_export
from approvals.selectors.payloads import contents_of
from approvals.services import decisions
from dashboard.forms.decisions import FILTER_NAMES
from tests.world import World, call

BASE_PYTHON = getattr(sys, "_base_executable", sys.executable)


def run(*words: object) -> str:
    printed = io.StringIO()
    call_command(*map(str, words), stdout=printed)
    return printed.getvalue()


def refused(*words: object) -> str:
    with pytest.raises(CommandError) as error:
        run(*words)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.fixture
def world(db: None) -> World:
    world = World.create()
    world.forced(world.run("refund-1", call("c1", "send_email")))
    world.rejected(world.campaign("Winter schedule", ["zoe@example.com"]), comment="=1+1 is wrong, too.")
    return world


@pytest.fixture
def export(world: World, tmp_path: Path) -> Callable[..., str]:
    """Exports; the text of the file."""

    def export(*words: str) -> str:
        out = tmp_path / "log"
        run("log", "export", "--workspace", world.workspace.slug, "--out", out, "--force", *words)
        return out.read_bytes().decode()

    return export


def kinds(text: str) -> list[str]:
    return [json.loads(line)["kind"] for line in text.splitlines()[1:]]


class TestExport:
    def test_writes_the_whole_log_and_says_how_to_verify_it(self, world: World, tmp_path: Path) -> None:
        out = tmp_path / "log.jsonl"
        said = run("log", "export", "--workspace", world.workspace.slug, "--out", out)
        assert f"8 entries were written to {out}." in said
        assert f"`python3 manage.py log verify {out}`" in said
        anchor = said.split()[-1]
        assert verify_log.main([str(out), "--anchor", anchor]) == 0
        assert stat.S_IMODE(out.stat().st_mode) == 0o600, "it holds what customers wrote"
        assert [file.name for file in tmp_path.iterdir()] == ["log.jsonl"]

    def test_takes_the_filters_of_the_page(self, world: World, export: Callable[..., str]) -> None:
        assert len(kinds(export())) == 8, "everything, unless something is asked for"
        assert kinds(export("--show", "decisions")) == ["force_replay", "reject"]
        assert kinds(export("--kind", "reject")) == ["reject"]
        assert kinds(export("--agent", "refunds")) == ["force_replay"]
        assert kinds(export("--person", world.people["support"].email.upper())) == ["force_replay"]
        assert kinds(export("--person", "operator"))[0] == "workspace_created"
        assert kinds(export("--recipient", "zoe@example.com")) == ["reject"]
        assert kinds(export("--from", "2999-01-01")) == []
        assert kinds(export("--until", "2999-01-01", "--kind", "reject")) == ["reject"]

    def test_has_an_option_for_each_filter_that_a_page_exports(self) -> None:
        """A search brings some entries only, so neither of the two exports it."""
        parser = Command().create_parser("manage.py", "log")
        given = parser.parse_args(["export", "--workspace", "w", "--out", "x"])
        assert FILTER_NAMES.keys() - {"text"} <= vars(given).keys()

    def test_tells_a_terminal_how_far_it_is_and_nobody_else(
        self, export: Callable[..., str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        clock = count()
        monkeypatch.setattr("approvals.management.commands.log.time.monotonic", lambda: next(clock))
        export()
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        export()
        told = capsys.readouterr().err.split("\r")
        assert told[1].startswith("[................]   0 %  0 of 8 entries,")
        assert told[5].startswith("[########........]  50 %  4 of 8 entries, 1 a second")
        assert told[9].startswith("[################] 100 %  8 of 8 entries,")
        assert told[-2:] == [" " * 78, ""], "and makes place for what follows"

    def test_writes_csv_for_spreadsheets(self, export: Callable[..., str], tmp_path: Path) -> None:
        text = export("--csv", "--kind", "reject")
        assert text.startswith('\ufeff"seq","at","kind",')
        assert '"\'=1+1 is wrong, too."' in text
        assert verify_log.main([str(tmp_path / "log")]) == 1

    def test_writes_to_standard_output(self, world: World, capsys: pytest.CaptureFixture[str]) -> None:
        printed = run("log", "export", "--workspace", world.workspace.slug, "--out", "-", "--kind", "reject")
        assert kinds(printed) == ["reject"]
        assert "1 entry was written to standard output." in capsys.readouterr().err

    def test_leaves_what_is_there_alone(self, world: World, tmp_path: Path) -> None:
        out = tmp_path / "log.jsonl"
        out.write_text("mine")
        words = ("log", "export", "--workspace", world.workspace.slug, "--out", out)
        assert "is there already" in refused(*words)
        assert out.read_text() == "mine"
        run(*words, "--force")
        assert verify_log.main([str(out)]) == 0

    def test_puts_itself_in_the_place_of_no_device_pipe_or_link(self, world: World, tmp_path: Path) -> None:
        pipe, link, target = tmp_path / "pipe", tmp_path / "link", tmp_path / "target"
        os.mkfifo(pipe)
        target.write_text("mine")
        link.symlink_to(target)
        for out in (pipe, link, Path("/dev/null")):
            words = ("log", "export", "--workspace", world.workspace.slug, "--out", out, "--force")
            assert "is no plain file" in refused(*words)
        assert pipe.is_fifo() and link.is_symlink() and target.read_text() == "mine"

    def test_leaves_no_half_file(self, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def breaks(export: Any) -> Any:
            yield "half"
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(log_export, "json_lines", breaks)
        out = tmp_path / "log.jsonl"
        words = ("log", "export", "--workspace", world.workspace.slug, "--out", out)
        assert refused(*words) == f"--out: {out} cannot be written: No space left on device."
        assert list(tmp_path.iterdir()) == []

    def test_says_in_one_sentence_what_is_wrong(self, world: World, tmp_path: Path) -> None:
        there = ("log", "export", "--workspace", world.workspace.slug, "--out", tmp_path / "x")
        assert 'no workspace "nowhere"' in refused("log", "export", "--workspace", "nowhere", "--out", "x")
        assert 'kind "fax"; there are force_replay, member_added,' in refused(*there, "--kind", "fax")
        assert '"nobody@x" is no member' in refused(*there, "--person", "nobody@x")
        assert '--from: "yesterday" is no day' in refused(*there, "--from", "yesterday")
        assert '--until: "2025-13-40" is no day' in refused(*there, "--until", "2025-13-40")
        assert "ends before it begins" in refused(*there, "--from", "2025-12-01", "--until", "2025-11-01")
        assert "invalid choice: 'some'" in refused(*there, "--show", "some")
        nowhere = tmp_path / "no" / "x"
        assert (
            refused(*there[:-1], nowhere) == f"--out: {nowhere} cannot be written: No such file or directory."
        )
        assert "is a folder" in refused(*there[:-1], tmp_path)
        assert not (tmp_path / "x").exists()


@pytest.mark.django_db(transaction=True)
class TestTampering:
    """Behind the product's back, as somebody who owns the database."""

    @pytest.fixture
    def world(self, transactional_db: None) -> World:
        del transactional_db
        world = World.create()
        world.rejected(world.campaign("Winter schedule"))
        return world

    @pytest.fixture
    def tamper(self, world: World, connect_as: Callable[[str], psycopg.Connection]) -> Callable[..., None]:
        def tamper(statement: str) -> None:
            superuser = connect_as("superuser")
            superuser.execute("set session_replication_role = replica")
            superuser.execute(statement.replace("@", f"workspace_id = '{world.workspace.id}'"))

        return tamper

    def evidence(self, world: World) -> dict[str, Any]:
        """What the newest entry says."""

        def read() -> dict[str, Any]:
            entry = Decision.objects.order_by("-seq")[0]
            assert (entry.kind, entry.actor_kind) == ("log_verified", "operator")
            found: dict[str, Any] = contents_of([entry.payload_id])[entry.payload_id]
            return found

        return world.read(read)

    def test_a_log_that_holds_is_said_and_written_down(self, world: World) -> None:
        said = run("log", "check", "--workspace", world.workspace.slug)
        assert said.startswith("The log holds: 7 entries.\nHead: entry 7, ")
        evidence = self.evidence(world)
        assert (evidence["holds"], evidence["entries"], evidence["first_bad"]) == (True, 7, None)
        assert evidence["head"] == {"seq": 7, "hash": said.split()[-1]}

    @pytest.mark.parametrize("chunk", [1, 2, 3, 10_000])
    @pytest.mark.parametrize(
        ("statement", "why"),
        [
            ("update approvals_decision set actor_name = 'x' where @ and seq = 4", "Entry 4: a sealed field"),
            ("update approvals_decision set hash = '\\x00' where @ and seq = 4", "Entry 4: a sealed field"),
            ("delete from approvals_decision where @ and seq in (4, 5)", "Entry 4: it is missing"),
            ("delete from approvals_decision where @ and seq = 1", "Entry 1: it is missing"),
            (
                "update approvals_payload set body = '{}' where id = (select payload_id from approvals_decision"
                " where @ and seq = 6)",
                "Entry 6: its texts",
            ),
        ],
    )
    def test_the_check_names_the_first_entry_that_is_wrong(
        self, world: World, tamper: Callable[..., None], monkeypatch: pytest.MonkeyPatch, statement: str, why: str,
        chunk: int,
    ) -> None:  # fmt: skip
        monkeypatch.setattr(log_check, "CHUNK", chunk)
        tamper(statement)
        assert f"The log does not hold. {why}" in refused("log", "check", "--workspace", world.workspace.slug)
        evidence = self.evidence(world)
        assert evidence["holds"] is False
        assert evidence["why"].startswith(why)

    def test_an_entry_that_was_sealed_anew_does_not_fit_the_next(
        self, world: World, tamper: Callable[..., None]
    ) -> None:
        tamper("update approvals_decision set actor_name = 'x' where @ and seq = 4")
        tamper("update approvals_decision d set hash = decision_hash(d) where @ and seq = 4")
        assert "Entry 5: it does not follow" in refused("log", "check", "--workspace", world.workspace.slug)

    def test_erased_texts_are_counted_and_the_export_still_verifies(
        self, world: World, connect_as: Callable[[str], psycopg.Connection], tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:  # fmt: skip
        with connect_as("owner") as owner, owner.transaction():
            owner.execute("select set_config('app.workspace_id', %s, true)", [str(world.workspace.id)])
            owner.execute(
                "delete from approvals_payload where id in"
                " (select payload_id from approvals_decision where seq in (2, 7))"
            )
        said = run("log", "check", "--workspace", world.workspace.slug)
        assert "The log holds: 7 entries, of which 2 are erased." in said
        out = tmp_path / "log.jsonl"
        run("log", "export", "--workspace", world.workspace.slug, "--out", out)
        assert verify_log.main([str(out)]) == 0
        assert "Erased     2 (their texts are gone; all else is sealed)" in capsys.readouterr().out
        run("log", "export", "--workspace", world.workspace.slug, "--out", out, "--csv", "--force")
        rows = list(csv.DictReader(io.StringIO(out.read_text("utf-8-sig"), newline="")))
        assert [row["texts"] == "erased" for row in rows] == [False, True, *[False] * 4, True, False]


def test_a_check_does_not_look_at_other_workspaces(world: World) -> None:
    other = World.create("Harbour")
    assert "The log holds: 6 entries." in run("log", "check", "--workspace", other.workspace.slug)
    with bind(world.workspace.id), transaction.atomic():
        assert Decision.objects.filter(kind="log_verified").count() == 0
        decisions.record(
            by=operator("me"), kind="x", target_kind="workspace", target_id=world.workspace.id, evidence={}
        )


@pytest.mark.real
def test_verify_needs_python_and_nothing_else(world: World, tmp_path: Path) -> None:
    """No Django, no packages, no database, and no .venv is made: an auditor has only this folder."""
    out = tmp_path / "log.jsonl"
    run("log", "export", "--workspace", world.workspace.slug, "--out", out)
    program = settings.BASE_DIR / "approvals" / "rules" / "verify_log.py"
    copy = tmp_path / "verify_log.py"
    copy.write_bytes(program.read_bytes())
    bare = {"PATH": os.environ["PATH"], "LC_ALL": "C", "DATABASE_URL": "nonsense"}
    for command in ([settings.BASE_DIR / "manage.py", "log", "verify"], [copy]):
        for words, code in (
            ([out], 0), ([out, "--anchor", "0" * 64], 1), ([out, "--anchor", "x"], 2), ([], 2), (["no"], 2),
        ):  # fmt: skip
            done = subprocess.run(
                [BASE_PYTHON, "-I", "-S", "-B", *command, *words],
                env=bare, cwd=tmp_path, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == code, done
            assert "Traceback" not in done.stderr
    assert sorted(file.name for file in tmp_path.iterdir()) == ["log.jsonl", "verify_log.py"]
