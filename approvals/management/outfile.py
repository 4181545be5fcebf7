"""Writing a file that is either whole or not there."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from django.core.management.base import CommandError


@contextmanager
def writing(out: str, stdout: Any, *, force: bool) -> Iterator[TextIO]:
    """A text file to write `out` with; `-` is standard output.

    It is written beside its place and moved there at the end, readable by whoever wrote it alone. CommandError with
    one sentence where that cannot be.
    """
    if out == "-":
        with _said("standard output"):
            yield _utf8(stdout)
        return
    place = Path(out)
    if place.is_dir():
        raise CommandError(f"--out: {out} is a folder; name a file in it.")
    if place.is_symlink() or (place.exists() and not place.is_file()):
        raise CommandError(
            f"--out: {out} is no plain file, so nothing is put in its place; - is standard output."
        )
    if place.exists() and not force:
        raise CommandError(
            f"--out: {out} is there already; choose another name, or write over it with --force."
        )
    with _said(out):
        descriptor, name = tempfile.mkstemp(prefix=f".{place.name}.", suffix=".part", dir=place.parent)
        try:
            with open(descriptor, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123
                yield file
                file.flush()
                os.fsync(descriptor)
            Path(name).replace(place)
        finally:
            with suppress(FileNotFoundError):
                Path(name).unlink()


@contextmanager
def _said(where: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CommandError(f"--out: {where} cannot be written: {error.strerror or error}.") from error


def _utf8(stdout: Any) -> TextIO:
    """Standard output as it is, whatever letters the terminal says it knows."""
    stream: TextIO = getattr(stdout, "_out", stdout)
    if stream is sys.stdout:
        stream.reconfigure(encoding="utf-8", newline="")  # type: ignore[attr-defined]
    return stream
