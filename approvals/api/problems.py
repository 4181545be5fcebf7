"""Every refusal of the API as application/problem+json, with a stable code and never a trace of our insides."""

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.http.response import HttpResponseBase
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from approvals.exceptions import Invalid, NotFound, Refusal, Unavailable
from approvals.rules.strict_json import BadJson
from approvals.rules.wrong_fields import MISSING, field_of, words_of

CONTENT_TYPE = "application/problem+json"
MOST_ERRORS = 20  # fields named in one answer
_DRAINED = (
    16 * 1024 * 1024
)  # bytes of an unread body that are read and forgotten, so that its sender hears us

log = logging.getLogger(__name__)

TOO_BIG = Refusal(
    "The body is larger than 5 MB. Send it in several smaller calls.", code="too_large", status=413
)
UNAUTHENTICATED = Refusal(
    "Send a valid token of this workspace in the header Authorization: Bearer TOKEN.",
    code="unauthenticated",
    status=401,
)
# Whether it was stored before that is not always known, but asking again is always right.
INTERNAL = Refusal(
    "Something went wrong here. Send the same again later; a repetition never does anything twice.",
    code="internal",
    status=500,
)
NO_DATABASE = Unavailable(
    "The database cannot be reached now. Send the same again in a moment; a repetition never does anything twice."
)
CUT_SHORT = BadJson("The body ended early. Send it again.")
NO_SUCH_ADDRESS = Refusal(
    "There is no such address. /api/v1/docs lists all of them.", code="not_found", status=404
)
NO_LENGTH = Refusal(
    "Send the length of the body in the header Content-Length; a body sent in chunks is not read.",
    code="length_required",
    status=411,
)
EMPTY = BadJson("The body is empty. Send a JSON object.")


def problem(refusal: Refusal) -> HttpResponse:
    """The answer that tells of a refusal."""
    response = HttpResponse(
        json.dumps(refusal.as_problem()), status=refusal.status, content_type=CONTENT_TYPE
    )
    if refusal.status == 401:
        response["WWW-Authenticate"] = 'Bearer realm="secondlook"'
    if refusal.status == 503:
        response["Retry-After"] = "5"
    return response


def invalid(errors: Iterable[dict[str, Any]]) -> Refusal:
    """The refusal for what the schemas found: the first field, and the others beside it."""
    found = [(_field(error), words_of(error)) for error in list(errors)[:MOST_ERRORS]]
    if found[0][0] is None and found[0][1] == MISSING:
        return EMPTY
    refusal = Invalid(*found[0])
    refusal.extra["errors"] = [{"field": field, "text": text} for field, text in found]
    return refusal


def _field(error: dict[str, Any]) -> str | None:
    """The path without what only our schemas know: the parameter's name, and the type by which a union chose."""
    source, *steps = error["loc"]
    if source == "body":
        steps = steps[1:]
    if len(steps) > 2 and steps[0] == "events":
        steps = [*steps[:2], *steps[3:]]
    return field_of(error, steps)


def install(api: NinjaAPI) -> None:
    """Answer every exception of the API's views with a problem document."""
    for kind in (Exception, Http404, HttpError, ValidationError):
        api.add_exception_handler(kind, answer)


# What else may be raised, and how it is told.
_KNOWN: Sequence[tuple[type[Exception], Refusal]] = (
    (AuthenticationError, UNAUTHENTICATED),
    (RequestDataTooBig, TOO_BIG),
    (UnreadablePostError, CUT_SHORT),
    (Http404, NO_SUCH_ADDRESS),
)


def answer(request: HttpRequest, error: Any) -> HttpResponse:
    """The problem document for any exception; one that nobody expected is logged, not shown."""
    if isinstance(error, HttpError) and error.__cause__ is not None:
        error = error.__cause__  # the body's reader wraps whatever the parser raised
    if isinstance(error, ValidationError):
        refusal = invalid(error.errors)
        return problem(NO_LENGTH if refusal is EMPTY and "Transfer-Encoding" in request.headers else refusal)
    if isinstance(error, Refusal):
        return problem(error)
    for kind, refusal in _KNOWN:
        if isinstance(error, kind):
            return problem(refusal)
    log.error("a call of the machine API failed", exc_info=error)
    return problem(NO_DATABASE if isinstance(error, OperationalError | InterfaceError) else INTERNAL)


def always_problems(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A view whose 404 and 405 are problem documents too, and whose refusals reach whoever is still sending."""

    @wraps(view)
    def told(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            response = view(request, *args, **kwargs)
        except (Http404, NotFound) as error:
            response = answer(request, error)
        if response.status_code == 405:
            response = _not_allowed(request, response["Allow"])
        if response.status_code >= 400:
            _drain(request)
        return response

    told.csrf_exempt = True  # type: ignore[attr-defined]
    return told


def _not_allowed(request: HttpRequest, allowed: str) -> HttpResponse:
    response = problem(
        Refusal(
            f"{request.method} is not possible here; {allowed} is.", code="method_not_allowed", status=405
        )
    )
    response["Allow"] = allowed
    return response


def _drain(request: HttpRequest) -> None:
    left = _DRAINED
    try:
        while left > 0 and (chunk := request.read(64 * 1024)):
            left -= len(chunk)
    except OSError:
        return
