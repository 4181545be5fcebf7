"""What every view that decides something does: look, ask who may, read what was shown, and answer.

The order of the refusals is the same everywhere: 404 for what is not there, 403 for whoever may not, 422 for a form
that this page never made for this person, and only then what the service says. What is refused to a person, for lack
of a right or because of how things stand, is an entry of the log.
"""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from uuid import UUID

import structlog
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from approvals.access.actors import Actor
from approvals.exceptions import DECIDED, Conflict, Invalid, NotAllowed, Refusal
from approvals.rules.decisions import RESOLUTIONS
from approvals.rules.shown import Shown
from approvals.selectors import queue
from approvals.services import decisions
from dashboard.forms import queue as forms
from dashboard.forms.shown import unpack
from dashboard.middleware import PageRequest
from dashboard.presenters.parts import Link, Trail
from dashboard.presenters.places import Places
from dashboard.presenters.text import summary_line

_Found = TypeVar("_Found")
_View = Callable[..., HttpResponse]
# What the answer "do it again" makes of an attempt.
_AGAIN = {("job", "resolve_run"): "replay_again", ("delivery", "resolve_delivery"): "send_again"}
log = structlog.get_logger(__name__)


class SeeOther(HttpResponseRedirect):
    """To a page, by GET, after something was decided."""

    status_code = 303


def deciding(tried: str, *, on: str) -> Callable[[_View], _View]:
    """A view that decides, by POST alone: the kind of decision, and what its address names (the view's one id, or
    none where it is about the workspace).

    Each deciding view is made with this, so that no refusal is lost; a test tries every address.
    """

    def made(view: _View) -> _View:
        @require_POST
        @wraps(view)
        def decided(request: PageRequest, slug: str, **ids: UUID) -> HttpResponse:
            try:
                return view(request, slug, **ids)
            except (NotAllowed, Conflict) as refusal:
                [target] = ids.values() or [request.membership.workspace_id]
                keep_refused(request, tried, (on, target), refusal)
                raise

        return decided

    return made


def keep_refused(request: PageRequest, tried: str, target: tuple[str, UUID], refusal: Refusal) -> None:
    """Write the refused attempt down, in a transaction of its own; what was refused was rolled back before.

    For a view that answers a refusal with its form: there is much in it that must not be lost.
    """
    resolution = request.POST.get("resolution") or ""
    if resolution == "do_again":
        tried = _AGAIN.get((target[0], tried), tried)
    try:
        shown = unpack(request.POST.get("shown") or "", target=target[1], user_id=request.actor.id)
    except Invalid:
        shown = None
    try:
        decisions.record_refusal(
            by=request.actor,
            tried=tried,
            target=target,
            refusal=refusal,
            shown=shown,
            reason=request.POST.get("reason") or request.POST.get("comment") or "",
            resolution=resolution if resolution in RESOLUTIONS else "",
        )
    except Exception:  # whatever is wrong with the log: they are told why nothing was done
        log.exception("a refused attempt could not be written down", tried=tried, target=str(target[1]))


def found(
    request: PageRequest, find: Callable[[Actor, UUID], _Found], target: UUID, permission: str
) -> tuple[_Found, Shown]:
    """(the object that is decided about, what this member was shown of it)."""
    with transaction.atomic():
        thing = find(request.actor, target)
        request.actor.require(permission)
    return thing, unpack(request.POST.get("shown") or "", target=target, user_id=request.actor.id)


def answer(request: PageRequest, kind: str, *, repeated: bool, said: str, page: str) -> HttpResponse:
    """Back to the page, with what happened. `page` is where to go unless the form says otherwise."""
    if repeated:
        done = DECIDED.get(kind, "decided this")
        messages.success(request, f"You already {done}. Nothing happened twice.")
    else:
        messages.success(request, said)
    return SeeOther(_after(request, page))


def _after(request: HttpRequest, page: str) -> str:
    """The form's own `next`, if it is a page of this workspace."""
    wanted = request.POST.get("next") or ""
    inside = "/".join(page.split("/")[:3]) + "/"
    safe = url_has_allowed_host_and_scheme(wanted, allowed_hosts=None) and wanted.startswith(inside)
    return wanted if safe and len(wanted) < 4_000 and wanted.isprintable() else page


def back_of(request: HttpRequest) -> str:
    """The query of the queue as the reader left it, with nothing in it that the queue does not know."""
    query = request.GET.get("back") or ""
    asked = forms.read_query(query)
    return forms.address(asked.wanted, after=asked.after)


def trail_of(places: Places, back: str, item_id: UUID) -> Trail:
    """The way back to the queue as it was, and on to its next item."""
    asked = forms.read_query(back)
    following = None
    if asked.wanted.tab == "decide":
        item = queue.item_of(item_id)
        after = item.position if item and item.tab == "decide" else None
        words = queue.search(asked.wanted.text)
        items, _ = queue.page_of(asked.wanted, words, after=after, size=2)
        other = next((one for one in items if one.id != item_id), None)
        if other:
            url = places.item(other.kind, other.target_id, places.back(back))
            following = Link(summary_line(other.title, 60), url)
    return Trail(Link("Queue", places.queue(back)), following)
