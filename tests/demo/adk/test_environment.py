"""Environments with pip: here with a wheel made on the spot, so that nothing is fetched."""

import fcntl
import json
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from dashboard.demo.adk import environment
from dashboard.embedded.trouble import Trouble


@pytest.fixture
def wheel(tmp_path: Path) -> str:
    """A package with one module."""
    path = tmp_path / "tiny-1.0-py3-none-any.whl"
    info = "tiny-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny.py", "WORD = 'here'\n")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return str(path)


def word_in(python: Path) -> str:
    words = [python, "-c", "import tiny; print(tiny.WORD)"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def test_an_environment_is_made_once_and_replaces_one_that_holds_something_else(
    tmp_path: Path, wheel: str
) -> None:
    folder = tmp_path / "env"
    folder.mkdir()
    (folder / environment.MARK).write_text(json.dumps({"requirements": ["other"], "python": "3"}))
    (folder / "left-over").touch()
    said: list[str] = []

    python = environment.prepare(folder, [wheel], said.append)
    assert word_in(python) == "here"
    assert not (folder / "left-over").exists()
    assert len(said) == 1

    assert environment.prepare(folder, [wheel], said.append) == python
    assert len(said) == 1


def test_what_pip_cannot_install_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing-1.0-py3-none-any.whl")

    with pytest.raises(Trouble, match=r"pip could not install .*missing"):
        environment.prepare(tmp_path / "env", [missing], print)

    assert not (tmp_path / "env").exists()


def test_who_comes_second_waits(tmp_path: Path) -> None:
    folder = tmp_path / "env"
    folder.mkdir()
    got: list[Path] = []
    second = threading.Thread(target=lambda: got.append(environment.prepare(folder, ["tiny"], print)))

    with (tmp_path / "env.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        second.start()
        second.join(0.3)
        assert second.is_alive()
        made = {"requirements": ["tiny"], "python": sys.version}
        (folder / environment.MARK).write_text(json.dumps(made))
    second.join(30)

    assert got == [folder / "bin" / "python"]


@pytest.mark.parametrize("version", ["", "latest", "2.13.0; evil", "../2.13", "2..1"])
def test_a_version_is_numbers_with_dots(tmp_path: Path, version: str) -> None:
    with pytest.raises(Trouble, match="is no version of google-adk"):
        environment.adk(tmp_path, version, print)


def test_the_environments_lie_in_the_data_folder_or_where_somebody_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(environment.VARIABLE, raising=False)
    assert environment.root(tmp_path) == tmp_path / "adk"

    monkeypatch.setenv(environment.VARIABLE, str(tmp_path / "kept"))
    assert environment.root(tmp_path) == tmp_path / "kept"
