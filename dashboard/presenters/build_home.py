"""Filling the choice of a workspace."""

from collections.abc import Sequence

from approvals.access.actors import Membership
from approvals.selectors.jobs_overdue import COUNTED
from dashboard.presenters.home import HomePage, WorkspaceCard
from dashboard.presenters.parts import Empty
from dashboard.presenters.places import Places
from dashboard.presenters.text import capped


def home_page(workspaces: Sequence[tuple[Membership, int]]) -> HomePage:
    """The workspaces of a person, each with how much waits there."""
    if not workspaces:
        return HomePage(
            empty=Empty(
                "You belong to no workspace yet",
                "Ask an admin to add you with this e-mail address, then reload this page.",
            )
        )
    return HomePage(
        tuple(
            WorkspaceCard(m.name, Places(m.slug).queue(), ", ".join(m.roles), _waits(number))
            for m, number in workspaces
        )
    )


def _waits(number: int) -> str:
    if not number:
        return "Nothing waits"
    return f"{capped(number, COUNTED)} {'waits' if number == 1 else 'wait'} for a decision"
