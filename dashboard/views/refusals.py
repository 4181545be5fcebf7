"""Refusals as pages: what was refused, why, and the way on; what somebody typed is never lost."""

import re
from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from django.contrib.auth.views import redirect_to_login
from django.db import connection, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django_htmx.http import HttpResponseClientRedirect

from approvals.access import desk
from approvals.access.actors import Actor, Membership
from approvals.exceptions import AlreadyDecided, Invalid, NotFound, Refusal, Stale
from approvals.selectors import queue
from dashboard.forms.shown import unpack
from dashboard.presenters import build_refusals, chips
from dashboard.presenters.build_refusals import TRIED, Scene
from dashboard.presenters.parts import Link
from dashboard.presenters.places import Places
from dashboard.presenters.text import summary_line
from dashboard.views.shell import render_page, shell_of

# The addresses on which something is decided: what it is about, and what is done to it.
_DECIDING = re.compile(r"^/w/[^/]+/(?P<noun>[a-z]+)/(?P<id>[0-9a-f-]{36})/(?P<act>[a-z-]*)")


def refusal_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page for a refusal, with its status; anything that is no refusal is a page that is not there."""
    if not isinstance(exception, Refusal) or isinstance(exception, NotFound):
        return nothing_here(request, exception)
    now = timezone.now()
    scene = _scene(request)
    match exception:
        case AlreadyDecided():
            page = build_refusals.decided_page(exception, scene, now)
            return render_page(request, "decided.html", page, status=exception.status)
        case Stale():
            stale = build_refusals.stale_page(exception, scene, now)
            return render_page(request, "stale.html", stale, status=exception.status)
        case _:
            actor: Actor | None = getattr(request, "actor", None)
            refused = build_refusals.refused_page(exception, scene, actor.roles if actor else ())
            return render_page(request, "refused.html", refused, status=exception.status)


def nothing_here(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: an address that is none, and what this reader may not know of look the same."""
    del exception
    shell = None if connection.needs_rollback else shell_of(request)
    return render(request, "404.html", {"shell": shell}, status=404)


def closed(request: HttpRequest, **names: str) -> HttpResponse:
    """An address that a library brings along and this product does not open."""
    del names
    return nothing_here(request, Http404())


def sign_in_first(request: HttpRequest) -> HttpResponse:
    """To the sign-in page and back; a decision that came too late keeps its text."""
    if getattr(request, "htmx", False):
        return HttpResponseClientRedirect(_sign_in(request.htmx.current_url_abs_path or "/"))  # type: ignore[attr-defined]
    if request.method in ("GET", "HEAD"):
        return redirect_to_login(request.get_full_path())
    page = build_refusals.signed_out_page(sign_in_url=_sign_in(_page_of(request)), typed=_typed(request))
    return render(request, "refused.html", {"page": page}, status=403)


def _sign_in(after: str) -> str:
    return f"{reverse('account_login')}?{urlencode({'next': after})}"


def _page_of(request: HttpRequest) -> str:
    """The page on which somebody decided."""
    return re.sub(r"[a-z-]+$", "", request.path_info)


def _typed(request: HttpRequest) -> str:
    return request.POST.get("reason") or request.POST.get("comment") or ""


def _scene(request: HttpRequest) -> Scene:
    membership: Membership | None = getattr(request, "membership", None)
    if membership is None or connection.needs_rollback:
        return Scene(queue_url="/", typed=_typed(request))
    places = Places(membership.slug)
    nowhere = Scene(queue_url=places.queue(), typed=_typed(request))
    asked = _DECIDING.match(request.path_info)
    if asked is None:
        return nowhere
    with transaction.atomic():
        item = _item(request.actor, asked["noun"], asked["id"])  # type: ignore[attr-defined]
        waiting, _ = queue.page_of(queue.Wanted(), None, size=2)
    if item is None:
        return nowhere
    following = next((other for other in waiting if other.id != item.id), None)
    target = UUID(asked["id"]) if asked["noun"] == "runs" else item.target_id
    return Scene(
        queue_url=places.queue(),
        reader=str(request.actor.id),  # type: ignore[attr-defined]
        tried=TRIED.get((asked["noun"], asked["act"]), ""),
        title=item.title,
        url=places.item(item.kind, target),
        typed=_typed(request),
        stands=chips.queue_state(item.kind, item.state).label.lower(),
        opened=_opened(request, UUID(asked["id"])),
        next=(
            Link(
                summary_line(f"Next in the queue: {following.title}", 80),
                places.item(following.kind, following.target_id),
            )
            if following
            else None
        ),
    )


def _item(actor: Actor, noun: str, item_id: str) -> queue.Item | None:
    """The lineage or campaign that an address is about, if this reader may see it."""
    try:
        match noun:
            case "runs":
                return queue.item_of(desk.run_for(actor, UUID(item_id)).lineage_id)
            case "campaigns":
                return queue.item_of(desk.campaign_for(actor, UUID(item_id)).id)
            case "deliveries":
                return queue.item_of(desk.delivery_for(actor, UUID(item_id)).campaign_id)
            case "jobs":
                job = desk.job_for(actor, UUID(item_id))
                return queue.item_of(job.run.lineage_id if job.run else job.campaign_id or job.id)
            case _:
                return None
    except (Refusal, ValueError):
        return None


def _opened(request: HttpRequest, target: UUID) -> datetime | None:
    try:
        return unpack(request.POST.get("shown", ""), target=target, user_id=str(request.user.pk)).opened_at
    except Invalid:
        return None
