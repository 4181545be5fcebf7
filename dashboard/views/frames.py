"""HTML that somebody outside wrote: shown in a frame that can run nothing, load nothing and reach nothing."""

from django.http import HttpResponse

POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'self'",
        "sandbox",
    )
)


def framed(html: str) -> HttpResponse:
    """The answer for such a frame; the policy holds even where it is opened outside of one."""
    response = HttpResponse(html.encode("utf-8", "replace"), content_type="text/html; charset=utf-8")
    response["Content-Security-Policy"] = POLICY
    response["Referrer-Policy"] = "no-referrer"
    return response
