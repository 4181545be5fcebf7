"""The connector for runtimes that are reached over HTTP: it asks one to start a replay, or tells it some news."""

from approvals.connectors.http.order import News, Outcome, ReplayOrder, Told
from approvals.connectors.http.replay import start_replay
from approvals.connectors.http.tell import tell

__all__ = ["News", "Outcome", "ReplayOrder", "Told", "start_replay", "tell"]
