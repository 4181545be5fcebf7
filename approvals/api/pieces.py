"""A body that is a file: read in pieces as it comes in, and never beyond the limit."""

from collections.abc import Iterator

from django.http import HttpRequest

from approvals.api.problems import CUT_SHORT, NO_LENGTH
from approvals.exceptions import Refusal

PIECE = 256 * 1024


def pieces_of(request: HttpRequest, *, most: int, too_big: Refusal) -> Iterator[bytes]:
    """The body; a Refusal where its length is not said, where it is beyond `most` bytes, or where it ends early."""
    if "Transfer-Encoding" in request.headers:
        raise NO_LENGTH
    left = int(request.headers.get("Content-Length") or 0)
    if left > most:
        raise too_big
    while piece := request.read(PIECE):
        left -= len(piece)
        yield piece
    if left > 0:
        raise CUT_SHORT
