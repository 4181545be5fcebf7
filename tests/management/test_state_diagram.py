"""`manage.py state_diagram` keeps a document equal to rules/states.py."""

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from approvals.management.commands.state_diagram import BEGIN, END
from approvals.rules.states import diagram


@pytest.fixture
def document(settings: Settings, tmp_path: Path) -> Path:
    settings.BASE_DIR = tmp_path
    path = tmp_path / "ARCHITECTURE.md"
    path.write_text(f"# Before\n{BEGIN}\nold\n{END}\nafter\n")
    return path


def state_diagram(*words: str) -> str:
    printed = io.StringIO()
    call_command("state_diagram", *words, stdout=printed)
    return printed.getvalue()


def test_it_writes_between_the_marks_and_nowhere_else(document: Path) -> None:
    assert "written anew" in state_diagram()
    assert document.read_text() == f"# Before\n{BEGIN}\n{diagram()}{END}\nafter\n"


def test_written_once_it_is_up_to_date(document: Path) -> None:
    state_diagram()
    assert "up to date" in state_diagram("--check")
    before = document.read_text()
    assert "up to date" in state_diagram()
    assert document.read_text() == before


def test_a_check_writes_nothing(document: Path) -> None:
    before = document.read_text()
    with pytest.raises(CommandError, match=r"run `manage.py state_diagram`"):
        state_diagram("--check")
    assert document.read_text() == before


@pytest.mark.parametrize("text", ["", BEGIN, END, f"{END}\n{BEGIN}"])
def test_it_says_where_the_marks_are_missing(document: Path, text: str) -> None:
    document.write_text(text)
    with pytest.raises(CommandError, match="needs a line"):
        state_diagram()
    assert document.read_text() == text


def test_it_says_that_the_document_is_missing(document: Path) -> None:
    document.unlink()
    with pytest.raises(CommandError, match=r"There is no ARCHITECTURE\.md"):
        state_diagram("--check")
