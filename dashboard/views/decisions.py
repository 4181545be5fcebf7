"""The decision log."""

from django.http import HttpRequest, HttpResponse


def page(request: HttpRequest, **names: object) -> HttpResponse:
    """A page."""
    return HttpResponse()


def entry(request: HttpRequest, **names: object) -> HttpResponse:
    """A page."""
    return HttpResponse()
