"""Files in the storage of Django (S3, or a folder): each is kept once, under the SHA-256 of what it holds."""

import hashlib
import logging
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage

from approvals.exceptions import Invalid, Refusal, Unavailable
from approvals.rules.spelling import LONGEST, Spelling

_PIECE = 1024 * 1024
AWAY = "The storage of files does not answer now. Try again in a while; nothing was lost by it."
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Spooled:
    """A file that came in whole: on the disk, read from its beginning; its SHA-256 in hex and its size in bytes."""

    file: IO[bytes]
    sha256: str
    size: int


@contextmanager
def spooled(pieces: Iterable[bytes], *, most: int, too_big: Refusal) -> Iterator[Spooled]:
    """The file that the pieces make up, gone again afterwards.

    On the disk and not in memory, and not in the storage either before all of it is known to be within the limit.
    Raises `too_big` beyond `most` bytes, Invalid for an empty file.
    """
    with tempfile.NamedTemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR, prefix="upload-") as file:
        hasher, size = hashlib.sha256(), 0
        for piece in pieces:
            size += len(piece)
            if size > most:
                raise too_big
            hasher.update(piece)
            file.write(piece)
        file.flush()
        if not size:
            raise Invalid("file", "The file is empty.")
        file.seek(0)
        yield Spooled(file, hasher.hexdigest(), size)


def store(came: Spooled, name: str) -> None:
    """Keep a file under this name, where it is not kept yet.

    What was left half written there, or was changed, is replaced: so whoever sends a file again mends it. Unavailable.
    """
    with _telling_trouble():
        if default_storage.exists(name):
            if _sha256_of(name) == came.sha256:
                return
            default_storage.delete(name)
        came.file.seek(0)
        saved = default_storage.save(name, File(came.file))
        if saved != name:  # sent twice at once: the other one is there already
            default_storage.delete(saved)


def _sha256_of(name: str) -> str:
    hasher = hashlib.sha256()
    with default_storage.open(name, "rb") as file:
        while piece := file.read(_PIECE):
            hasher.update(piece)
    return hasher.hexdigest()


def spells(name: str, spelled: Spelling) -> bool:
    """Whether the file of this name spells somebody; one that is not there does not. Unavailable."""
    with _telling_trouble():
        try:
            with default_storage.open(name, "rb") as file:
                before = b""
                while piece := file.read(_PIECE):
                    if spelled.in_bytes(before + piece):
                        return True
                    before = piece[-LONGEST:]
        except FileNotFoundError:
            pass
    return False


def remove(name: str) -> bool:
    """Take the file of this name out of the storage; whether it was there. Unavailable."""
    with _telling_trouble():
        if not default_storage.exists(name):
            return False
        default_storage.delete(name)
    return True


@contextmanager
def _telling_trouble() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # each storage has its own
        log.warning("the storage does not answer", exc_info=True)
        raise Unavailable(AWAY) from error
