"""Pages in their frame: workspace, navigation, alarms. Every view of a page answers through `render_page`."""

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from approvals.access.actors import Membership
from approvals.selectors import jobs_overdue, my_decisions, runtimes
from dashboard.presenters import build_shell
from dashboard.presenters.shell import Shell


def render_page(
    request: HttpRequest, template: str, page: object = None, *, status: int = 200, current: str = ""
) -> HttpResponse:
    """`template` with `page` in its frame.

    `current` names the place in the navigation: queue, decisions, authority, setup, mail.
    """
    return render(request, template, {"page": page, "shell": shell_of(request, current)}, status=status)


def shell_of(request: HttpRequest, current: str = "") -> Shell | None:
    """The frame for this reader; None for somebody who is not signed in."""
    if not request.user.is_authenticated:
        return None
    email = str(request.user.email)
    membership: Membership | None = getattr(request, "membership", None)
    if membership is None:
        return build_shell.shell_of_hall(
            name=str(request.user), email=email, current=current, catches_mail=bool(settings.MAIL_CATCHER_DIR)
        )
    with transaction.atomic():
        waiting = jobs_overdue.waiting()
        alarms = jobs_overdue.alarms(overdue_s=settings.OVERDUE_S, at_most=build_shell.ALARMS_SHOWN + 1)
        mine = my_decisions.last_of(request.actor.id, at_most=build_shell.MINE_SHOWN)  # type: ignore[attr-defined]
        unread = runtimes.unread_stores(at_most=build_shell.ALARMS_SHOWN)
    return build_shell.shell_of_workspace(
        actor=request.actor,  # type: ignore[attr-defined]
        email=email,
        membership=membership,
        memberships=request.memberships,  # type: ignore[attr-defined]
        waiting=waiting,
        alarms=alarms,
        unread=unread,
        mine=mine,
        now=timezone.now(),
        current=current,
        catches_mail=bool(settings.MAIL_CATCHER_DIR),
    )
