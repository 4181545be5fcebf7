"""`manage.py bench NAME`: measures one promise about speed, on servers of its own."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from approvals.management.operator import OperatorCommand
from dashboard.bench import adk, decide, imports, ingest, log, queue, send
from dashboard.bench.telling import Teller
from dashboard.embedded.trouble import Trouble

BENCHES = {
    "queue": queue.run,
    "ingest": ingest.run,
    "decide": decide.run,
    "log": log.run,
    "adk": adk.run,
    "import": imports.run,
    "send": send.run,
}
LEAST, MOST = 0.001, 1.0


class Command(OperatorCommand):
    """Run one benchmark and print what it found."""

    help = "Measure one promise about speed, on servers of its own; --json prints one JSON object."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", choices=BENCHES, help="what to measure")
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
        parser.add_argument(
            "--scale", default="1", metavar="F", help="0.01 for a quick trial with less data (1)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        scale = _scale(options["scale"])
        try:
            found = BENCHES[options["name"]](Teller(), scale)
        except Trouble as trouble:
            raise CommandError(str(trouble)) from trouble
        if options["json"]:
            self.say(json.dumps(found))
        else:
            self._print(found)

    def _print(self, found: dict[str, Any]) -> None:
        """The figures that have a goal first, then everything else."""
        goals = found.pop("goals")
        for name, goal in goals.items():
            sense = "at_most" if "at_most" in goal else "at_least"
            met = {True: "met", False: "MISSED", None: "not judged at this scale"}[goal["met"]]
            self.say(f"{name:<24}{found.pop(name)!s:>12}   {sense.replace('_', ' ')} {goal[sense]:,}: {met}")
        for name, value in found.items():
            if isinstance(value, dict):
                self.say(f"{name}:")
                for inner, detail in value.items():
                    self.say(f"  {inner:<22}{json.dumps(detail)}")
            else:
                self.say(f"{name:<24}{value!s:>12}")


def _scale(word: str) -> float:
    try:
        scale = float(word)
    except ValueError:
        scale = 0
    if not LEAST <= scale <= MOST:
        raise CommandError(f"--scale is a number from {LEAST} to {MOST:g}, not {word!r}.")
    return scale
