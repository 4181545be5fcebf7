"""Celery entry points: claim, call the connector, record. And the dispatcher, which wakes them."""

from approvals.tasks import beats, observe, replay, send

__all__ = ["beats", "observe", "replay", "send"]
