"""Files that come in with a form: only on the pages that take some, only from members who may send them, and never
beyond the limit.

Django reads a form before any view is asked, whoever sent it; so it is here that a file is not taken. A list beyond the
limit ends the reading, since nothing else is in its form. A file to attach beyond its limit is passed over and its name
kept, since with it comes all that somebody typed.
"""

from typing import Any

from django.core.files.uploadhandler import SkipFile, StopUpload, TemporaryFileUploadHandler
from django.urls import Resolver404, resolve

from approvals.rules.attachments import MOST, MOST_BYTES
from approvals.services.datasets import most_bytes

LISTS, ATTACHMENTS = "import_audience", "propose"
TAKES_FILES = {"dataset_upload": LISTS, "campaign_new": ATTACHMENTS, "campaign_new_version": ATTACHMENTS}
MORE = 64 * 1024  # bytes of a form around its file
MOST_PASSED_OVER = 20 * MOST * MOST_BYTES  # of a form with files to attach; nobody means to send so much


class LimitedUpload(TemporaryFileUploadHandler):
    """A file on the disk, up to the limit.

    `request.upload_too_big` says that a list was beyond it; `request.too_big_to_attach` names files that were.
    """

    def handle_raw_input(self, input_data: Any, META: Any, content_length: int, *rest: Any) -> None:
        """Whether the form as a whole is too long. It is read up to its first file, for what shows that it is ours."""
        del input_data, META, rest
        self.so_far = 0
        self.takes = _takes_files(self.request)
        self.too_long = content_length > (most_bytes() + MORE if self.takes == LISTS else MOST_PASSED_OVER)

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """A file begins; of what is too long nothing is written."""
        if not self.takes:
            raise SkipFile
        if self.too_long:
            self._stop()
        super().new_file(*args, **kwargs)
        if self.takes == ATTACHMENTS:
            self.so_far = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        """A piece of it."""
        self.so_far += len(raw_data)
        if self.takes == ATTACHMENTS and self.so_far > MOST_BYTES:
            self._pass_over()
        if self.takes == LISTS and self.so_far > most_bytes():
            self._stop()
        super().receive_data_chunk(raw_data, start)

    def _pass_over(self) -> None:
        self.file.close()
        names = [*getattr(self.request, "too_big_to_attach", ()), self.file_name or ""]
        self.request.too_big_to_attach = names  # type: ignore[union-attr]
        raise SkipFile

    def _stop(self) -> None:
        self.request.upload_too_big = True  # type: ignore[union-attr]
        raise StopUpload(connection_reset=True)


def _takes_files(request: Any) -> str:
    """The right by which this member sends files to this address, or nothing. The middleware has looked up both."""
    try:
        named = resolve(request.path_info).url_name
    except Resolver404:
        return ""
    needs, actor = TAKES_FILES.get(named or "", ""), getattr(request, "actor", None)
    return needs if needs and actor is not None and actor.may(needs) else ""
