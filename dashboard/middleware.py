"""What holds for every page: a workspace is bound, a GET can only read, a refusal is a page.

Innermost, so that the transaction of a GET includes the rendering. A POST is only bound; services open their own
short transactions.
"""

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from django.db import connection, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.urls import Resolver404, resolve

from approvals.access.actors import Actor, Membership, memberships_of
from approvals.db.binding import bind
from approvals.exceptions import Refusal
from dashboard.views.refusals import refusal_page, sign_in_first

# These bind, or need no database, themselves.
ELSEWHERE = ("/api/", "/healthz", "/readyz", "/static/")
READS = ("GET", "HEAD")
# They wait for the storage, and open short transactions of their own.
FETCHES = frozenset({"campaign_source", "campaign_attachment"})


class PageRequest(HttpRequest):
    """A request for a page of a workspace, after the middleware."""

    memberships: Sequence[Membership]
    membership: Membership
    actor: Actor


class WorkspaceMiddleware:
    """Binds the workspace that the address names, for members of it alone."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request within its workspace and, for a GET, within one read-only transaction."""
        if request.path_info.startswith(ELSEWHERE):
            return self.get_response(request)
        with ExitStack() as stack:
            slug = _slug(request)
            if slug is not None:
                if not request.user.is_authenticated:
                    return sign_in_first(request)
                memberships = memberships_of(request.user.pk)
                membership = next((m for m in memberships if m.slug == slug), None)
                if membership is None:
                    return refusal_page(request, Http404())
                request.memberships = memberships  # type: ignore[attr-defined]
                request.membership = membership  # type: ignore[attr-defined]
                request.actor = _actor(request, membership)  # type: ignore[attr-defined]
                stack.enter_context(bind(membership.workspace_id))
            if request.method in READS and not _fetches(request):
                stack.enter_context(transaction.atomic())
                with connection.cursor() as cursor:
                    cursor.execute("set transaction read only")
            answer = self.get_response(request)
            if request.user.is_authenticated:
                # "Back" after signing out must not show a customer from the browser's own store.
                answer.headers.setdefault("Cache-Control", "private, no-store")
            return answer

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """A refusal becomes its page; anything else is Django's to answer. Nothing of a failed GET is kept."""
        answer = refusal_page(request, exception) if isinstance(exception, Refusal) else None
        if (
            request.method in READS and not _fetches(request) and connection.in_atomic_block
        ):  # last: the page asks the database too
            transaction.set_rollback(True)
        return answer


def _fetches(request: HttpRequest) -> bool:
    try:
        return resolve(request.path_info).url_name in FETCHES
    except Resolver404:
        return False


def _slug(request: HttpRequest) -> str | None:
    try:
        match = resolve(request.path_info)
    except Resolver404:
        return None
    return str(match.kwargs["slug"]) if match.route.startswith("w/<slug:slug>/") else None


def _actor(request: HttpRequest, membership: Membership) -> Actor:
    """The member as the decision log will name them; how they signed in is allauth's record of it."""
    methods = request.session.get("account_authentication_methods", [])
    return Actor(
        kind="member",
        id=str(request.user.pk),
        name=str(request.user),
        roles=membership.roles,
        sign_in=", ".join(method.get("method", "") for method in methods) or "session",
    )
