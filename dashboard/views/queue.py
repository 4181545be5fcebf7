"""What waits for a decision."""

from django.http import HttpRequest, HttpResponse


def page(request: HttpRequest, **names: object) -> HttpResponse:
    """A page."""
    return HttpResponse()


def live(request: HttpRequest, **names: object) -> HttpResponse:
    """A page."""
    return HttpResponse()
