"""The connector for Google ADK: asks a service, runs a turn and tells what happens, and reads its own sessions."""

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
from approvals.connectors.adk.telling import Telling
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
    "Telling",
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
