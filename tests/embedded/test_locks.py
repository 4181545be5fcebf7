"""Who uses a data folder."""

import os
import subprocess
from pathlib import Path

import pytest

from dashboard.embedded import locks
from dashboard.embedded.trouble import Trouble


def not_waiting() -> None:
    raise AssertionError("nobody should have to wait")


def test_the_second_claim_is_refused(tmp_path: Path) -> None:
    first = locks.claim(tmp_path / "lock")
    assert first is not None
    assert locks.claim(tmp_path / "lock") is None
    os.close(first)
    assert locks.claim(tmp_path / "lock") is not None


def test_an_inherited_lock_lasts_until_the_child_has_ended(tmp_path: Path) -> None:
    path = tmp_path / "children.lock"
    held = locks.inherit(path, not_waiting)
    child = subprocess.Popen(["/bin/sleep", "60"], pass_fds=[held])
    os.close(held)
    assert list(locks.holders(path)) == [child.pid]

    def end_the_child() -> None:
        child.kill()
        child.wait()

    os.close(locks.inherit(path, end_the_child))


def test_a_child_that_stays_is_ended_by_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "PATIENCE_S", 0)
    path = tmp_path / "children.lock"
    held = locks.inherit(path, not_waiting)
    child = subprocess.Popen(["/bin/sleep", "60"], pass_fds=[held])
    os.close(held)
    os.close(locks.inherit(path, lambda: None))
    assert child.wait() == -9


def test_one_that_cannot_be_ended_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "PATIENCE_S", -5)
    monkeypatch.setattr(locks, "holders", lambda path: iter(()))
    path = tmp_path / "children.lock"
    held = locks.inherit(path, not_waiting)
    with pytest.raises(Trouble, match="Processes of an earlier run still use"):
        locks.inherit(path, lambda: None)
    os.close(held)
