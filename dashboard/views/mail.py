"""Caught mail."""

from django.http import HttpRequest, HttpResponse


def page(request: HttpRequest, **names: object) -> HttpResponse:
    """A page."""
    return HttpResponse()


def message(request: HttpRequest, **names: object) -> HttpResponse:
    """A page."""
    return HttpResponse()


def html(request: HttpRequest, **names: object) -> HttpResponse:
    """A page."""
    return HttpResponse()


def raw(request: HttpRequest, **names: object) -> HttpResponse:
    """A page."""
    return HttpResponse()
