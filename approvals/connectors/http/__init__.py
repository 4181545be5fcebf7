"""The connector for runtimes that are reached over HTTP: it asks one to start a replay."""

from approvals.connectors.http.order import Outcome, ReplayOrder
from approvals.connectors.http.replay import start_replay

__all__ = ["Outcome", "ReplayOrder", "start_replay"]
