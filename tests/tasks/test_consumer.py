"""How a Celery worker waits for its broker."""

from typing import Any

import pytest
from celery.worker import consumer as celerys
from kombu.exceptions import OperationalError

from approvals.tasks.consumer import RECONNECT_S, Consumer
from dashboard.celery import app


def test_workers_look_for_a_broker_that_is_away_every_few_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    def connect(self: celerys.Consumer, conn: Any) -> Any:
        return conn.ensure_connection(lambda error, pause: pauses.append(pause), max_retries=5)

    monkeypatch.setattr(celerys.Consumer, "ensure_connected", connect)
    monkeypatch.setattr("kombu.utils.functional.sleep", lambda seconds: None)
    nowhere = app.connection_for_read("redis://127.0.0.1:1/0")
    with pytest.raises(OperationalError, match="Connection refused"):
        Consumer.ensure_connected(Consumer.__new__(Consumer), nowhere)
    assert max(pauses) == RECONNECT_S


def test_the_workers_use_it_and_wait_for_a_full_broker_too() -> None:
    assert app.conf.worker_consumer == f"{Consumer.__module__}:{Consumer.__name__}"
    assert app.conf.broker_channel_error_retry
