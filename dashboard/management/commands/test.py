"""`manage.py test`: the tests, by pytest, with whatever words follow given on to it."""

import os
from typing import NoReturn

from django.core.management.base import BaseCommand

MOST_AT_ONCE = 4


class Command(BaseCommand):
    """Run the tests: all of them in several processes, file by file, each with servers of its own."""

    help = "Run the tests (pytest; its options may follow). Without options: all of them, file by file on each core."
    requires_system_checks: list[str] = []

    def run_from_argv(self, argv: list[str]) -> NoReturn:
        import pytest

        raise SystemExit(int(pytest.main(argv[2:] or _all_at_once())))


def _all_at_once() -> list[str]:
    """The words with which pytest runs a file on each core. Most tests wait for a database, a process or a clock."""
    return ["-n", str(min(os.cpu_count() or 1, MOST_AT_ONCE)), "--dist", "loadfile"]
