"""Workers that can be killed and frozen between any two of their steps, without a process for each.

A worker is a thread that runs the product's own task. It stops at every fault point that stands outside of a
transaction until it is told to go on, or to die there. Only one thread moves at a time, so a run is repeatable.
"""

import threading
from queue import SimpleQueue
from typing import Any
from uuid import UUID

from django.db import connection, connections

from approvals.db.binding import bind
from approvals.tasks import observe, replay, send

TASKS = {"replay": replay.execute, "send": send.execute, "observe": observe.execute}
PATIENCE_S = 60.0


class Killed(BaseException):
    """This process is dead from here on."""


class Worker:
    """`at` is the point where it stands frozen; None: it waits for work."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.at: str | None = None
        self.job_id: UUID | None = None
        self._told: SimpleQueue[Any] = SimpleQueue()
        self._came: SimpleQueue[Any] = SimpleQueue()
        self._thread = threading.Thread(target=self._live, name=name, daemon=True)
        self._thread.start()

    def take(self, kind: str, job_id: UUID, workspace_id: UUID) -> None:
        """It hears the wake-up for a job and works to its first point."""
        self.job_id = job_id
        self._tell((kind, job_id, workspace_id))

    def go_on(self) -> None:
        """To the next point, or to the end of its task."""
        self._tell("go on")

    def die(self) -> None:
        """As by kill -9; another one takes its place."""
        self._tell("die")

    def leave(self) -> None:
        """The end of the thread."""
        self._told.put(None)
        self._thread.join(PATIENCE_S)

    def is_this_thread(self) -> bool:
        """Whether it is this worker that asks."""
        return threading.current_thread() is self._thread

    def stands_here(self, point: str) -> bool:
        """Called by the thread itself at each point; whether the thread is this worker's."""
        if not self.is_this_thread():
            return False
        if not connection.in_atomic_block:  # there it holds locks that the others would wait for
            self._came.put(point)
            if self._told.get() == "die":
                raise Killed
        return True

    def _tell(self, what: object) -> None:
        self._told.put(what)
        came = self._came.get(timeout=PATIENCE_S)
        self.at = came if isinstance(came, str) else None
        if isinstance(came, Exception):
            raise came

    def _live(self) -> None:
        while (work := self._told.get()) is not None:
            kind, job_id, workspace_id = work
            try:
                with bind(workspace_id):
                    TASKS[kind].run(str(job_id))
                self._came.put(None)
            except Killed:
                self._came.put(None)
            except Exception as error:
                self._came.put(error)
        connections.close_all()
