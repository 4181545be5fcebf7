"""`manage.py state_diagram`: keeps the diagram in ARCHITECTURE.md equal to rules/states.py."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from approvals.management.operator import OperatorCommand
from approvals.rules.states import diagram

BEGIN, END = "<!-- states:begin -->", "<!-- states:end -->"


class Command(OperatorCommand):
    """The state machines as a picture."""

    help = "Write the state machines into ARCHITECTURE.md, or --check that they are there."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--check", action="store_true", help="write nothing; exit code 1 if it is out of date"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        del args
        path = settings.BASE_DIR / "ARCHITECTURE.md"
        try:
            text = path.read_text()
        except FileNotFoundError:
            raise CommandError("There is no ARCHITECTURE.md.") from None
        before, begin, rest = text.partition(BEGIN)
        _, end, after = rest.partition(END)
        if not begin or not end:
            raise CommandError(f"ARCHITECTURE.md needs a line {BEGIN} and, after it, a line {END}.")
        current = f"{before}{BEGIN}\n{diagram()}{END}{after}"
        if current == text:
            self.say("The diagram in ARCHITECTURE.md is up to date.")
        elif options["check"]:
            raise CommandError(
                "The diagram in ARCHITECTURE.md is not the one of rules/states.py; run `manage.py state_diagram`."
            )
        else:
            path.write_text(current)
            self.say("The diagram in ARCHITECTURE.md was written anew.")
