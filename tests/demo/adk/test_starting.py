"""What `manage.py demo adk` says to whoever started it."""

import re
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest

from dashboard.demo.adk import service, starting
from dashboard.demo.adk.database import Access
from dashboard.demo.adk.starting import Wish
from dashboard.embedded.trouble import Trouble

WISH = Wish("2.13.0", 8765, "", "127.0.0.1:2525", "")
ACCESS = Access(
    "postgresql://adk:of-owner@127.0.0.1:5/adk", "postgresql://adk_reader:of-reader@127.0.0.1:5/adk"
)


def test_on_a_terminal_it_says_the_whole_command_and_never_the_owners_password() -> None:
    said = starting.how_to(WISH, ACCESS, on_terminal=True)

    assert "runtime add --workspace demo" in said
    assert "--kind adk" in said
    assert "--base-url http://127.0.0.1:8765 --silence-s 20" in said
    assert f"--database-url '{ACCESS.reader_url}'" in said
    assert "of-owner" not in said


def test_into_a_log_it_says_no_password() -> None:
    said = starting.how_to(WISH, ACCESS, on_terminal=False)

    assert "of-reader" not in said
    assert "postgresql://adk_reader:PASSWORD@127.0.0.1:5/adk" in said
    assert "Start this in a terminal" in said


def test_for_a_database_of_ones_own_it_says_what_has_to_be_filled_in() -> None:
    said = starting.how_to(WISH, Access("postgresql://me:secret@db/adk", ""), on_terminal=True)

    assert "secret" not in said
    assert "READER:PASSWORD@HOST:PORT/DATABASE" in said


def test_it_names_every_app_with_what_to_try() -> None:
    said = starting.how_to(WISH, ACCESS, on_terminal=True)

    served = Path(service.HERE) / "apps"
    apps = [one.name for one in served.iterdir() if (one / "agent.py").exists()]
    assert apps
    for app in apps:
        assert f"\n  {app} " in said
    for words in ("[script:slow:120]", "[script:confirm]", "ends with an error on purpose"):
        assert words in said


def test_it_names_another_session_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def session_at(second: int) -> str:
        moment = SimpleNamespace(now=lambda: datetime(2026, 1, 1, 12, 0, second))
        monkeypatch.setattr(starting, "datetime", moment)
        said = starting.how_to(WISH, ACCESS, on_terminal=True)
        [made] = re.findall("/sessions/(\\S+)", said)
        assert f'"sessionId": "{made}"' in said
        return made

    assert session_at(1) != session_at(2)


@pytest.mark.parametrize("mail", ["", "localhost", "localhost:smtp"])
def test_a_mail_server_has_a_port(tmp_path: Path, mail: str) -> None:
    with pytest.raises(Trouble, match="HOST:PORT"):
        starting.run(tmp_path, Wish("2.13.0", 0, "", mail, ""), print, on_terminal=True)
