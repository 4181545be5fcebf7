"""`manage.py up`: everything on this machine, in the foreground. The supervisor does the work."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from dashboard.embedded.supervisor import Options, Supervisor


class Command(BaseCommand):
    """Start everything and stay."""

    help = "Start servers, pages, workers and a demonstration; Ctrl-C stops all of it."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", default="8000", help="where the pages are served (8000)")
        parser.add_argument(
            "--restored", action="store_true",
            help="the data folder is a copy that was put back: pause what was due before anything starts",
        )  # fmt: skip
        parser.add_argument("--empty", action="store_true", help="start without the demonstration")
        # manage.py takes it away before the settings are read; here for --help.
        parser.add_argument("--data", metavar="DIR", help="where everything is kept (.data)")

    def handle(self, *args: Any, **options: Any) -> None:
        del args
        wanted = Options(
            data=settings.DATA_DIR,
            port=options["port"],
            demo=not options["empty"],
            role_prefix=settings.ROLE_PREFIX,
            project=settings.BASE_DIR,
            restored=options["restored"],
        )
        raise SystemExit(Supervisor(wanted).run())
