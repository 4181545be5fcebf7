"""How a request is read: as UTF-8, whatever it says of itself.

Django believes the charset that a request names and decodes address and form with it: with `hex` that fails before any
middleware is reached, and with `unicode_escape` it yields halves of characters that no database takes. Every page
and every form of ours is UTF-8, and so is JSON.
"""

from typing import Any

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.http.request import parse_header_parameters  # type: ignore[attr-defined]


class Utf8Request(WSGIRequest):
    """A request that is read as UTF-8; what is not UTF-8 in it becomes U+FFFD."""

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        self.content_type, self.content_params = parse_header_parameters(meta.get("CONTENT_TYPE", ""))
        self.content_params.pop("charset", None)


class Application(WSGIHandler):
    """Django, for requests of ours."""

    request_class = Utf8Request
