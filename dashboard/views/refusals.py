"""Refusals as pages: what was refused, why, and the way on; what somebody typed is never lost."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def refusal_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page for a refusal, with its status."""
    return render(request, "404.html", status=getattr(exception, "status", 404))


def nothing_here(request: HttpRequest, exception: Exception) -> HttpResponse:
    """There is no such address."""
    return refusal_page(request, exception)
