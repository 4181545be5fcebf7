"""Files of NAME=value lines."""

from pathlib import Path

import pytest

from dashboard.embedded import envfile


def test_what_was_written_is_read_and_only_its_owner_can(tmp_path: Path) -> None:
    file = tmp_path / "env"
    envfile.write(file, {"URL": "postgres://a:b@c/d?x=y", "EMPTY": ""})
    assert envfile.read(file) == {"URL": "postgres://a:b@c/d?x=y", "EMPTY": ""}
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_not_there_says_nothing(tmp_path: Path) -> None:
    assert envfile.read(tmp_path / "env") == {}


def test_a_value_of_two_lines_is_refused_and_the_old_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "env"
    envfile.write(file, {"A": "1"})
    with pytest.raises(ValueError, match="B has more than one line"):
        envfile.write(file, {"B": "1\nOWNER_DATABASE_URL=2"})
    assert envfile.read(file) == {"A": "1"}


def test_a_write_that_was_cut_short_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "env.new").write_text("half")
    envfile.write(tmp_path / "env", {"A": "1"})
    assert envfile.read(tmp_path / "env") == {"A": "1"}
