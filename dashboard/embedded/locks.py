"""Who uses a data folder: one `up` at a time, and none before the processes of the last one have ended."""

import fcntl
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from dashboard.embedded.trouble import Trouble

PATIENCE_S = 25  # what a killed run left ends by itself within this time, or is ended


def claim(path: Path) -> int | None:
    """Take a lock that lasts as long as this process; None where somebody else has it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    if _taken(descriptor):
        return descriptor
    os.close(descriptor)
    return None


def inherit(path: Path, waiting: Callable[[], None]) -> int:
    """Take a lock that children inherit, so that it lasts until the last of them has ended.

    Where processes of an earlier run still hold it they get some time, and are then killed. `waiting` is
    called meanwhile and may raise. Raises Trouble where they cannot be ended.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    start = time.monotonic()
    while not _taken(descriptor):
        waiting()
        waited = time.monotonic() - start
        if waited > PATIENCE_S + 5:
            raise Trouble(
                f"Processes of an earlier run still use {path.parent} and cannot be ended; end them first."
            )
        if waited > PATIENCE_S:
            for pid in holders(path):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)
    return descriptor


def holders(path: Path) -> Iterator[int]:
    """The other processes that have this file open, as far as we may see."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            opened = [link.readlink() for link in (process / "fd").iterdir()]
        except OSError:
            continue  # not ours to look at, or gone meanwhile
        if path in opened and int(process.name) != os.getpid():
            yield int(process.name)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
