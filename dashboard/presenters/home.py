"""The page after signing in: choose a workspace (`home.html`)."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.presenters.parts import Empty


@dataclass(frozen=True, slots=True)
class WorkspaceCard:
    """One workspace of the member; `waiting` says what waits there, in words."""

    name: str
    url: str
    roles: str
    waiting: str = ""


@dataclass(frozen=True, slots=True)
class HomePage:
    """`workspaces` by name, or `empty` where the member belongs to none."""

    workspaces: tuple[WorkspaceCard, ...] = ()
    empty: Empty | None = None
