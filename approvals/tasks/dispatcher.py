"""The dispatcher: the only publisher and the only clock.

Four threads, so that a broker which hangs stops no clock: one listens to Postgres, one sweeps what is due, one
publishes, and a slow one watches the decision logs. Two dispatchers do no harm: a wake-up is only a wake-up, and
every step of the clock is conditional.
"""

import contextlib
import queue
import re
import threading
import time
from collections.abc import Callable
from uuid import UUID, uuid4

import psycopg
import redis
import structlog
from celery import current_app
from django.conf import settings
from django.db import Error, InterfaceError, OperationalError, close_old_connections, connection

from approvals import faults
from approvals.services import sweep
from approvals.services.sweep import Due
from approvals.tasks.log_watch import LogWatch

REMEMBERED_S = 30.0  # how long a published wake-up is not repeated; it may have been lost, so then it is
ASKED_EVERY_S = 1.0  # how often the broker is asked whether it is there, and still has what it was told
MARK_S = 60  # how long a mark in the broker stays there without a dispatcher
AT_MOST = 500
WATCH_S = 60.0  # between two looks at the decision logs
TASKS = {
    "replay": "approvals.tasks.replay.execute",
    "send": "approvals.tasks.send.execute",
    "test": "approvals.tasks.trials.execute",
    "observe": "approvals.tasks.observe.execute",
    "import": "approvals.tasks.imports.execute",
    "callback": "approvals.tasks.callbacks.execute",
    "propose": "approvals.tasks.propose.execute",
}
# The others have queues of their own, named as they are. A batch of a campaign gives its worker back, unlike a replay;
# filling a campaign is work like importing a list.
QUEUES = {"test": "send", "callback": "send", "propose": "import"}
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_WAKE = re.compile(rf"({_UUID}) ({_UUID}) ({'|'.join(TASKS)}) (\d{{1,18}})")  # sql/0005_decisions
# A publish gives up after 2 s; without these a frozen broker blocks it for over a minute.
IMPATIENT = {"socket_timeout": 2, "socket_connect_timeout": 2, "retry_on_timeout": False, "max_retries": 0}

log = structlog.get_logger(__name__)


class Dispatcher:
    """Runs until `stop()`; everything it knows can be lost at any instant."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._wakes: queue.Queue[Due] = queue.Queue(maxsize=10_000)
        self._published: dict[tuple[UUID, int], float] = {}
        self._broker = "not asked yet"
        self._watch = LogWatch(self._stopping.is_set)
        self._asked_at = -ASKED_EVERY_S
        self._mark = f"secondlook-dispatcher-{uuid4()}"

    def run(self) -> None:
        """Until stopped."""
        threads = [
            threading.Thread(target=self._forever, args=(work,), name=work.__name__, daemon=True)
            for work in (self.listen, self.sweep, self.publish, self.watch)
        ]
        for thread in threads:
            thread.start()
        while not self._stopping.wait(0.2):
            pass
        for thread in threads:
            thread.join(timeout=5)

    def stop(self) -> None:
        """End all threads soon."""
        self._stopping.set()

    def _forever(self, work: Callable[[], None]) -> None:
        while not self._stopping.is_set():
            try:
                close_old_connections()
                work()
            except (Error, psycopg.Error) as error:
                self._published = {}  # whoever was woken met the same trouble, and has forgotten it
                log.warning("the database does not answer", thread=work.__name__, reason=str(error).strip())
                self._stopping.wait(1)
            except Exception:
                log.exception("the dispatcher goes on after an error", thread=work.__name__)
                self._stopping.wait(1)
        connection.close()

    def listen(self) -> None:
        """Hear of each job as it is queued; what is missed here the sweep finds."""
        with psycopg.connect(**connection.get_connection_params() | {"autocommit": True}) as listening:
            listening.execute("listen due")
            while not self._stopping.is_set():
                for note in listening.notifies(timeout=1, stop_after=1):
                    self._heard(note.payload)

    def _heard(self, payload: str) -> None:
        """A wake-up, if it is one: any role of the database can send any words on this channel."""
        words = _WAKE.fullmatch(payload)
        if words is not None:
            workspace_id, job_id, kind, fence = words.groups()
            self._enqueue(Due("wake", UUID(workspace_id), UUID(job_id), kind, int(fence)))

    def sweep(self) -> None:
        """One round of the clock, then a rest."""
        began = time.monotonic()
        for item in sweep.due(at_most=AT_MOST):
            if self._stopping.is_set():
                return
            if item.what == "wake":
                self._enqueue(item)
            else:
                self._step(item)
        sweep.beat("dispatcher", broker=self._broker)
        self._stopping.wait(max(0.05, settings.POLL_S - (time.monotonic() - began)))

    def _step(self, item: Due) -> None:
        """One step of the clock. What is wrong with one item keeps no other from its turn."""
        try:
            sweep.step(item)
        except (OperationalError, InterfaceError):
            raise  # about the database, not about this item
        except Exception:
            log.exception("a step of the clock failed; it is tried again", what=item.what, id=str(item.id))

    def _enqueue(self, item: Due) -> None:
        with contextlib.suppress(queue.Full):  # the next sweep finds it again
            self._wakes.put_nowait(item)

    def watch(self) -> None:
        """One look at the decision logs, then a long rest."""
        self._watch.round()
        self._stopping.wait(WATCH_S)

    def publish(self) -> None:
        """Wake the workers, as long as the broker is there."""
        current_app.conf.broker_transport_options = IMPATIENT
        if time.monotonic() - self._asked_at >= ASKED_EVERY_S and not self._ask_broker():
            return
        try:
            item = self._wakes.get(timeout=ASKED_EVERY_S)
        except queue.Empty:
            return
        now = time.monotonic()
        key = (item.id, item.fence)
        if self._published.get(key, -REMEMBERED_S) > now - REMEMBERED_S:
            return
        try:
            current_app.send_task(
                TASKS[item.kind],
                args=[str(item.id)],
                kwargs={"workspace": str(item.workspace_id)},
                queue=QUEUES.get(item.kind, item.kind),
                retry=False,
            )
        except Exception as error:  # every transport has exceptions of its own
            self._broker_failed(error)
            return
        faults.point("dispatch.published")
        self._published[key] = now
        if len(self._published) > AT_MOST * 20:
            self._published = {k: at for k, at in self._published.items() if at > now - REMEMBERED_S}

    def _ask_broker(self) -> bool:
        """Whether the broker is there; what it was told is forgotten where it may have lost that."""
        try:
            with redis.Redis.from_url(
                settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2
            ) as broker:
                marked, _ = broker.pipeline().get(self._mark).set(self._mark, 1, ex=MARK_S).execute()
        except redis.RedisError as error:
            self._broker_failed(error)
            return False
        if marked is None or self._broker != "ok":  # it was emptied, or was away
            self._published = {}
        self._broker = "ok"
        self._asked_at = time.monotonic()
        return True

    def _broker_failed(self, error: Exception) -> None:
        self._broker = f"The broker does not answer: {type(error).__name__}."
        self._asked_at = -ASKED_EVERY_S  # before anything else is published
        log.warning("the broker does not answer", reason=str(error))
        self._stopping.wait(0.5)
