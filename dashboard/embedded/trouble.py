"""What goes wrong between the product and the machine it runs on, each told in one sentence."""

import errno
import shutil
from pathlib import Path

MB = 1024 * 1024
FIRST_START_BYTES = 300 * MB  # database 60 MB, copied programs 50 MB, and room to write
LATER_START_BYTES = 60 * MB  # a few files of the database's log


class Trouble(Exception):
    """Something that a person has to put right; its text is one sentence for them."""


def no_space(folder: Path) -> Trouble:
    """The sentence for a full disk."""
    return Trouble(f"There is no space left on the disk that holds {folder}; free some and start again.")


def need_space(folder: Path, least: int) -> None:
    """Raise Trouble where fewer than `least` bytes are free: better now than half way through."""
    free = shutil.disk_usage(folder).free
    if free < least:
        raise Trouble(
            f"The disk that holds {folder} has only {free // MB} MB free and {least // MB} MB are "
            "needed; free some and start again."
        )


def from_os_error(error: OSError, folder: Path) -> Trouble:
    """The sentence for what the operating system refused around `folder`."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return no_space(folder)
    where = error.filename or folder
    if error.errno in (errno.EACCES, errno.EPERM):
        return Trouble(
            f"{where} belongs to another user; run this as that user, or choose another folder with --data."
        )
    return Trouble(f"{where} cannot be used: {error.strerror or error}.")
