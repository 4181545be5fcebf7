"""The start."""

from django.http import HttpRequest, HttpResponse


def page(request: HttpRequest, **names: object) -> HttpResponse:
    """A page."""
    return HttpResponse()
