"""Celery entry points: claim, call the connector, record. And the dispatcher, which wakes them."""

from approvals.tasks import beats, callbacks, imports, observe, propose, replay, send, trials

__all__ = ["beats", "callbacks", "imports", "observe", "propose", "replay", "send", "trials"]
