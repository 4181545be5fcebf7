"""The part of a Celery worker that listens to the broker; it is told of in the settings."""

from functools import partial
from typing import Any

from celery.worker import consumer

RECONNECT_S = (
    3  # Celery's own pauses between two tries grow to 30 s, and so long would work wait after an outage
)


class Consumer(consumer.Consumer):  # type: ignore[misc]  # Celery has no types
    """Looks every few seconds for a broker that is away."""

    def ensure_connected(self, conn: Any) -> Any:
        """The connection, once there is one."""
        conn.ensure_connection = partial(conn.ensure_connection, interval_max=RECONNECT_S)
        return super().ensure_connected(conn)
