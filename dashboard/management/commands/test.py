"""`manage.py test`: the tests, by pytest, with whatever words follow given on to it."""

from typing import NoReturn

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    """Run the tests."""

    help = "Run the tests (pytest; its options may follow)."
    requires_system_checks: list[str] = []

    def run_from_argv(self, argv: list[str]) -> NoReturn:
        import pytest

        raise SystemExit(int(pytest.main(argv[2:])))
