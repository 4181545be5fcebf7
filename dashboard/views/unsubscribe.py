"""The address that every message carries: its recipient unsubscribes there, as RFC 8058 says.

Nobody signs in there. A GET, which mail programs and virus scanners make too, only shows a button; a POST acts, from a
mail program as from that button, without a cookie, a token of ours or a redirect.
"""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from approvals.services import suppressions

FIELD, VALUE = "List-Unsubscribe", "One-Click"


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest, token: str) -> HttpResponse:
    """The button, or what came of it. A token that is none is a page that is not there."""
    if request.method == "POST" and request.POST.get(FIELD) == VALUE:
        state = "done" if suppressions.unsubscribe(token) else "unknown"
    else:
        state = "ask" if suppressions.is_link(token) else "unknown"
    shown = {"state": state, "field": FIELD, "value": VALUE}
    return render(request, "unsubscribe.html", shown, status=404 if state == "unknown" else 200)
