"""Worker processes that are always there, run by the tests: `python -m tests.faults.pool COUNT WORKSPACE`.

Each is forked from one that has loaded everything, so whoever is killed is replaced within milliseconds. A worker does
the clock's steps and takes whatever send job is due; a dispatcher and a broker would only tell it when.
"""

import os
import random
import signal
import sys
import time

import django

django.setup()

from approvals.db.binding import bind  # noqa: E402
from approvals.services import sweep  # noqa: E402
from approvals.tasks import send  # noqa: E402
from dashboard.embedded.processes import end_with_parent  # noqa: E402


def work(workspace: str) -> None:
    """Until killed."""
    while True:
        with bind(workspace):
            found = sweep.due(at_most=100)
        random.shuffle(found)
        for item in found:
            if item.what != "wake":
                sweep.step(item)
        for item in [item for item in found if item.what == "wake"][:1]:
            send.execute.apply(args=[str(item.id)], kwargs={"workspace": workspace}, throw=True)
        time.sleep(0.01)


def keep(count: int, workspace: str) -> None:
    """So many workers, until killed."""
    parent, alive = os.getpid(), set[int]()
    while True:
        while len(alive) < count:
            pid = os.fork()
            if pid == 0:
                end_with_parent(signal.SIGKILL, parent)()
                work(workspace)
            alive.add(pid)
        alive.discard(os.wait()[0])


if __name__ == "__main__":
    keep(int(sys.argv[1]), sys.argv[2])
