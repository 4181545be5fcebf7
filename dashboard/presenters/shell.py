"""What stands around every page of a workspace: context variable `shell` of base.html."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.safestring import SafeString

from dashboard.presenters.ages import When
from dashboard.presenters.chips import Chip
from dashboard.presenters.parts import Link


@dataclass(frozen=True, slots=True)
class NavItem:
    """One place of the main navigation; `count` only where something waits."""

    text: str
    url: str
    current: bool = False
    count: str = ""


@dataclass(frozen=True, slots=True)
class MyDecision:
    """Something the reader decided a moment ago; `take_back`: on its page that is still possible."""

    what: Chip
    about: SafeString
    url: str
    at: When
    take_back: bool = False


@dataclass(frozen=True, slots=True)
class Shell:
    """Workspace, navigation, member.

    `workspace` is empty before one is chosen. `others` are the member's other workspaces. `alarms` are
    sentences that everybody must see (approved but never ran, a store that cannot be read), each with the way to it
    where this member may go it. `mine` are the reader's last decisions.
    """

    home_url: str
    member: str
    email: str
    roles: str = ""
    workspace: str = ""
    others: tuple[Link, ...] = ()
    nav: tuple[NavItem, ...] = ()
    alarms: tuple[Link, ...] = ()
    mine: tuple[MyDecision, ...] = ()
