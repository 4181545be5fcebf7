"""Whether this worker was asked to end: its processes end what they do soon instead of after a whole batch.

The parent hears the signal and its children do not, so the answer lies in memory that they share from the fork on.
"""

import mmap
from typing import Any

from celery.signals import worker_shutting_down

_asked = mmap.mmap(-1, 1)


@worker_shutting_down.connect  # type: ignore[untyped-decorator]
def _ask(**_: Any) -> None:
    _asked[0] = 1


def asked() -> bool:
    """Whether it was."""
    return _asked[0] == 1
