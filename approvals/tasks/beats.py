"""Signs of life of a Celery worker, written by a thread of its main process."""

import threading
from typing import Any

import structlog
from celery.signals import celeryd_after_setup, worker_ready, worker_shutting_down
from django.db import Error, close_old_connections

from approvals.services.sweep import beat

EVERY_S = 4.0
log = structlog.get_logger(__name__)
_stopping = threading.Event()
_queues: list[str] = []


@celeryd_after_setup.connect  # type: ignore[untyped-decorator]
def remember_queues(sender: str, instance: Any, **_: Any) -> None:
    """Which queues this worker serves is what its beats are named by."""
    _queues[:] = sorted(instance.app.amqp.queues.consume_from)


@worker_ready.connect  # type: ignore[untyped-decorator]
def start(**_: Any) -> None:
    """From now on, a sign of life every few seconds."""
    threading.Thread(target=_beat_until_stopped, name="beats", daemon=True).start()


@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def stop(**_: Any) -> None:
    """No more signs of life."""
    _stopping.set()


def _beat_until_stopped() -> None:
    while True:
        try:
            close_old_connections()
            for queue in _queues:
                beat(f"worker-{queue}")
        except Error as error:
            log.warning("no sign of life could be written", reason=str(error).strip())
        if _stopping.wait(EVERY_S):
            return
