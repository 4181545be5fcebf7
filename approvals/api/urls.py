"""Every address under /api/v1. What is no address is told so in the API's own form."""

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import include, path, re_path
from django.urls.resolvers import URLPattern

from approvals.api.machine import api
from approvals.api.problems import always_problems

_patterns, _app_name, _namespace = api.urls
for _pattern in _patterns:
    if isinstance(_pattern, URLPattern):
        _pattern.callback = always_problems(_pattern.callback)


@always_problems
def _nowhere(request: HttpRequest, rest: str) -> HttpResponse:
    raise Http404(rest)


urlpatterns = [
    path("", include((_patterns, _app_name), namespace=_namespace)),
    re_path(r"^(?P<rest>.*)$", _nowhere),
]
