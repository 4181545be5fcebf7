"""Files that come in with a form: only on the page that takes lists, only from its members, and never beyond the limit.

Django reads a form before any view is asked, whoever sent it; so it is here that a file is not taken.
"""

from typing import Any

from django.core.files.uploadhandler import SkipFile, StopUpload, TemporaryFileUploadHandler
from django.urls import Resolver404, resolve

from approvals.services.datasets import most_bytes

TAKES_FILES = frozenset({"dataset_upload"})
MORE = 64 * 1024  # bytes of a form around its file


class LimitedUpload(TemporaryFileUploadHandler):
    """A file on the disk, up to the limit; `request.upload_too_big` says that one was beyond it."""

    def handle_raw_input(self, input_data: Any, META: Any, content_length: int, *rest: Any) -> None:
        """Refuse what is too long before any of it is written."""
        del input_data, META, rest
        self.so_far = 0
        self.takes = _takes_files(self.request)
        if self.takes and content_length > most_bytes() + MORE:
            self._stop()

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """A file begins."""
        if not self.takes:
            raise SkipFile
        super().new_file(*args, **kwargs)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """A piece of it."""
        self.so_far += len(raw_data)
        if self.so_far > most_bytes():
            self._stop()
        super().receive_data_chunk(raw_data, start)

    def _stop(self) -> None:
        self.request.upload_too_big = True  # type: ignore[union-attr]
        raise StopUpload(connection_reset=True)


def _takes_files(request: Any) -> bool:
    """Whether this member may send a list to this address. The middleware has looked up both by now."""
    try:
        named = resolve(request.path_info).url_name
    except Resolver404:
        return False
    actor = getattr(request, "actor", None)
    return named in TAKES_FILES and actor is not None and actor.may("import_audience")
