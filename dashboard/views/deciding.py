"""What every view that decides something does: look, ask who may, read what was shown, and answer.

The order of the refusals is the same everywhere: 404 for what is not there, 403 for whoever may not, 422 for a form
that this page never made for this person, and only then what the service says.
"""

from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme

from approvals.access.actors import Actor
from approvals.exceptions import DECIDED
from approvals.rules.shown import Shown
from approvals.selectors import queue
from dashboard.forms import queue as forms
from dashboard.forms.shown import unpack
from dashboard.middleware import PageRequest
from dashboard.presenters.parts import Link, Trail
from dashboard.presenters.places import Places
from dashboard.presenters.text import summary_line

_Found = TypeVar("_Found")


class SeeOther(HttpResponseRedirect):
    """To a page, by GET, after something was decided."""

    status_code = 303


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
