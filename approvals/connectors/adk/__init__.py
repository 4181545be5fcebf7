"""The connector for Google ADK: it asks a service over HTTP, and runs a turn while telling what happens."""

from approvals.connectors.adk.client import about, app_facts, create_session, supported, usable
from approvals.connectors.adk.orders import (
    About,
    AppFacts,
    Closed,
    ErrorFrame,
    Opened,
    Outcome,
    Place,
    StreamItem,
    StreamOrder,
    Tick,
    Told,
)
from approvals.connectors.adk.stream import stream
from approvals.connectors.adk.turn import note

__all__ = [
    "About",
    "AppFacts",
    "Closed",
    "ErrorFrame",
    "Opened",
    "Outcome",
    "Place",
    "StreamItem",
    "StreamOrder",
    "Tick",
    "Told",
    "about",
    "app_facts",
    "create_session",
    "note",
    "stream",
    "supported",
    "usable",
]
