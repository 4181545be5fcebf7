"""`manage.py doctor`: whether everything is in place that holds the rules behind the code's back."""

import json
import textwrap
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import connection

from approvals.management.operator import OperatorCommand, spoken_errors
from approvals.selectors.ground import ground_of
from approvals.services import guards


class Command(OperatorCommand):
    """The guards."""

    help = "Say whether every guard holds; exit code 1 if one does not."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="a list of {guard, holds, detail}")
        form.add_argument(
            "--ground",
            action="store_true",
            help="print what is in place, in the form of approvals/sql/ground.txt",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        del args
        if options["ground"]:
            with spoken_errors():
                self.say(guards.as_text(ground_of(connection, settings.ROLE_PREFIX)))
            return
        found = guards.everything()
        if options["json"]:
            self.say(json.dumps([asdict(guard) for guard in found], indent=2))
        else:
            self._say_table(found)
        broken = [guard.guard for guard in found if not guard.holds]
        if broken:
            raise CommandError(f"{len(broken)} of {len(found)} guards do not hold: {', '.join(broken)}.")

    def _say_table(self, found: list[guards.Guard]) -> None:
        for guard in found:
            self.say(f"{'holds' if guard.holds else 'BROKEN':<7} {guard.guard}")
            for line in guard.detail.split("; ") if guard.detail else ():
                self.say(textwrap.indent(line, " " * 8))
