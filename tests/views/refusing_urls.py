"""The product's addresses, but every decision on them is refused in the way a test asks for."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import path

from dashboard.urls import handler404
from dashboard.urls import urlpatterns as product

refusal: Exception = RuntimeError("no test has asked for a refusal")


def refuse(request: HttpRequest, slug: str, noun: str, id: UUID, act: str) -> HttpResponse:
    """Raise it."""
    raise refusal


urlpatterns = [path("w/<slug:slug>/<slug:noun>/<uuid:id>/<slug:act>", refuse), *product]
__all__ = ["handler404", "urlpatterns"]
