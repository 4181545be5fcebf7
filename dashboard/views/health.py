"""Whether the process lives, and whether everything is in order: for supervisors and load balancers."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from approvals.services.health import readiness


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """200 while this process answers at all."""
    del request
    return HttpResponse("ok\n", content_type="text/plain; charset=utf-8")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """200 while database, broker, worker, dispatcher and guards are in order, else 503 with the reasons."""
    del request
    now = readiness()
    return JsonResponse({"ready": now.ready, "reasons": now.reasons}, status=200 if now.ready else 503)
