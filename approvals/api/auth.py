"""Who asks: the bearer of a token, and the workspace that everything then runs within."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.db import connection, transaction
from django.http import HttpRequest
from ninja.security import HttpBearer

from approvals.access.actors import TokenBearer, bearer_of
from approvals.db.binding import bind
from approvals.services.secrets import token_digest


class Token(HttpBearer):
    """`Authorization: Bearer TOKEN`, with a token that `token create` has shown once."""

    def authenticate(self, request: HttpRequest, token: str) -> TokenBearer | None:
        """Whose token it is; None for an unknown or revoked one."""
        return bearer_of(token_digest(token))


def bearer(request: HttpRequest) -> TokenBearer:
    """The bearer that was authenticated."""
    return cast(TokenBearer, request.auth)  # type: ignore[attr-defined]


def within_workspace(view: Callable[..., Any]) -> Callable[..., Any]:
    """Bind the token's workspace and subject around a view. What only reads is one read-only transaction."""

    @wraps(view)
    def bound(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        asking = bearer(request)
        with bind(asking.workspace_id, subject=asking.subject):
            if request.method != "GET":
                return view(request, *args, **kwargs)
            with transaction.atomic():
                with connection.cursor() as cursor:
                    cursor.execute("set transaction read only")
                return view(request, *args, **kwargs)

    return bound
