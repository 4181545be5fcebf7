"""The start: which workspace."""

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from approvals.access.actors import Membership, memberships_of
from approvals.db.binding import bind
from approvals.selectors.jobs_overdue import waiting
from dashboard.presenters.build_home import home_page
from dashboard.presenters.build_shell import shell_of_hall
from dashboard.presenters.places import Places
from dashboard.views.refusals import sign_in_first


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    """To the queue where there is one workspace, else the choice; nobody to choose for is told what to do."""
    if not request.user.is_authenticated:
        return sign_in_first(request)
    memberships = memberships_of(request.user.pk)
    if len(memberships) == 1:
        return redirect(Places(memberships[0].slug).queue())
    shell = shell_of_hall(
        name=str(request.user),
        email=request.user.email,
        current="home",
        catches_mail=bool(settings.MAIL_CATCHER_DIR and memberships),
    )
    shown = home_page([(membership, _waiting(membership)) for membership in memberships])
    return render(request, "home.html", {"page": shown, "shell": shell})


def _waiting(membership: Membership) -> int:
    with bind(membership.workspace_id), transaction.atomic():
        return waiting()
