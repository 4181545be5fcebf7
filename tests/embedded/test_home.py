"""Where the servers keep their files."""

import os
import shutil
from pathlib import Path

import pytest

from dashboard.embedded import home as module
from dashboard.embedded.home import Home
from dashboard.embedded.trouble import Trouble

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root starts servers as somebody else")


@as_root
def test_roots_servers_run_as_somebody_else(home: Home) -> None:
    assert home.identity["user"] == module.NOBODY
    assert home.folder("postgres").stat().st_uid == module.NOBODY
    assert home.folder("postgres").stat().st_mode & 0o777 == 0o700


@as_root
def test_files_that_an_ordinary_user_made_stay_that_users(home: Home) -> None:
    os.chown(home.folder("postgres"), 1234, 1234)
    assert Home.open(home.data).uid == 1234


@as_root
def test_a_folder_that_they_cannot_enter_has_one_elsewhere(folder: Path) -> None:
    folder.chmod(0o700)
    home = Home.open(folder / "data")
    try:
        assert home.servers.parent == Path("/var/tmp")
        assert Home.open(folder / "data").servers == home.servers
        assert Home.open(folder / "other").servers != home.servers
    finally:
        shutil.rmtree(home.servers)
        shutil.rmtree(Home.open(folder / "other").servers)


@as_root
def test_a_folder_elsewhere_that_is_not_ours_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr(module, "ELSEWHERE", elsewhere)
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    theirs = Home.open(closed / "data").servers
    os.chown(theirs, 1234, 1234)
    with pytest.raises(Trouble, match="belongs to somebody else"):
        Home.open(closed / "data")
    theirs.rmdir()
    theirs.symlink_to(folder)
    with pytest.raises(Trouble, match="belongs to somebody else"):
        Home.open(closed / "data")


@as_root
def test_programs_that_they_cannot_run_are_copied_with_their_libraries(
    home: Home, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = folder / "closed"
    closed.mkdir(mode=0o700)
    program = closed / "thing" / "bin" / "thing"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    (closed / "thing" / "__init__.py").write_text("")
    (closed / "thing.libs").mkdir()
    (closed / "thing.libs" / "lib.so").write_text("")
    monkeypatch.syspath_prepend(str(closed))
    monkeypatch.setattr(module.metadata, "version", lambda name: "1.0")

    copied = home.package("thing", probe="bin/thing")
    assert copied == home.servers / "programs" / "thing-1.0" / "thing"
    assert (copied.parent / "thing.libs" / "lib.so").exists()
    assert (copied / "bin" / "thing").stat().st_mode & 0o777 == 0o755
    assert home.package("thing", probe="bin/thing") == copied


def test_a_package_that_is_missing_is_a_sentence(home: Home) -> None:
    with pytest.raises(Trouble, match="The package nothing_of_the_kind is missing"):
        home.package("nothing_of_the_kind", probe="x")


def test_a_file_where_a_folder_should_be_is_a_sentence(folder: Path) -> None:
    (folder / "file").write_text("")
    with pytest.raises(Trouble, match="file cannot be used"):
        Home.open(folder / "file")
