"""`manage.py log export | verify | check`: the decision log for auditors.

`log verify` needs neither database nor Django, so manage.py itself hands it to rules/verify_log; it stands here for
`--help` alone.
"""

import sys
import time
from argparse import REMAINDER
from datetime import date
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from approvals.management.operator import (
    OperatorCommand,
    add_workspace_argument,
    current_operator,
    in_workspace,
)
from approvals.management.outfile import writing
from approvals.rules import verify_log
from approvals.selectors import log_check, log_export
from approvals.selectors.decisions import OTHERS, Wanted, kinds_there, person_by_email
from approvals.services import log_checks

BAR = 16  # characters


class Command(OperatorCommand):
    """The log."""

    help = "Export the decision log, verify an export, or check the log where it stands."
    actions = {
        "export": "Write the log of a workspace to a file that `log verify` reads.",
        "verify": "Verify an exported log or an evidence packet; needs no database.",
        "check": "Verify the log where it stands, in Postgres, and write down the result in it.",
    }

    def add_export_arguments(self, parser: CommandParser) -> None:
        add_workspace_argument(parser)
        parser.add_argument("--out", required=True, metavar="FILE", help="where to; - is standard output")
        parser.add_argument("--force", action="store_true", help="write over a FILE that is there")
        parser.add_argument("--csv", action="store_true", help="for spreadsheets; cannot be verified")
        parser.add_argument(
            "--person", default="", metavar="P", help=f"a member's e-mail, or {', '.join(OTHERS)}"
        )
        parser.add_argument("--kind", default="", metavar="K", help="one kind of entry, such as approve")
        parser.add_argument("--agent", default="", metavar="A")
        parser.add_argument("--from", dest="since", default="", metavar="DAY", help="as 2025-11-29, in UTC")
        parser.add_argument("--until", default="", metavar="DAY", help="this day is still in it")
        parser.add_argument(
            "--recipient", default="", metavar="R", help="what concerns this customer or address"
        )
        parser.add_argument(
            "--show",
            choices=("everything", "decisions"),
            default="everything",
            help="decisions leaves out what was set up; everything is the default",
        )

    def add_verify_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("words", nargs=REMAINDER, metavar="FILE [--anchor HASH]")

    def add_check_arguments(self, parser: CommandParser) -> None:
        add_workspace_argument(parser)

    def handle_export(self, *, workspace: str, out: str, force: bool, csv: bool, **asked: Any) -> None:
        with in_workspace(workspace) as row:
            with transaction.atomic():
                wanted = _wanted(**asked)
            export = log_export.begin(row.id, wanted)
            lines = log_export.csv_lines(export) if csv else log_export.json_lines(export)
            telling = Telling(export.entries)
            with writing(out, self.stdout, force=force) as file:
                for number, line in enumerate(lines):  # the first line is the header
                    file.write(line)
                    telling.show(number)
            telling.end()
        if out == "-":
            print(_exported(export, out, csv=csv), file=sys.stderr)
        else:
            self.say(_exported(export, out, csv=csv))

    def handle_verify(self, *, words: list[str], **_: Any) -> None:
        sys.exit(verify_log.main(words))

    def handle_check(self, *, workspace: str, **_: Any) -> None:
        with in_workspace(workspace):
            telling = None
            for found in log_check.check():
                telling = telling or Telling(found.head.seq)
                telling.show(found.seq)
            if telling:
                telling.end()
            log_checks.record(by=current_operator(), found=found)
        if not found.holds:
            raise CommandError(f"The log does not hold. {found.why}")
        erased = f", of which {found.erased:,} are erased" if found.erased else ""
        self.say(f"The log holds: {found.entries:,} entries{erased}.")
        self.say(f"Head: entry {found.head.seq}, {found.head.hash}")


class Telling:
    """How far it is, on a terminal."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._began = self._told = time.monotonic()
        self._on = sys.stderr.isatty() and total > 0

    def show(self, done: int) -> None:
        """At most five times a second."""
        now = time.monotonic()
        if self._on and now - self._told >= 0.2:
            self._told = now
            bar = "#" * (done * BAR // self._total)
            share, rate = done * 100 // self._total, done / (now - self._began)
            told = f"{done:,} of {self._total:,} entries, {rate:,.0f} a second"
            print(f"\r[{bar:.<{BAR}}] {share:3d} %  {told}  ", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Make place for what follows."""
        if self._on and self._told > self._began:
            print("\r" + " " * 78 + "\r", end="", file=sys.stderr, flush=True)


def _wanted(
    *, person: str, kind: str, agent: str, since: str, until: str, recipient: str, show: str, **_: Any
) -> Wanted:
    """The filters; CommandError for one that names nothing."""
    if kind and kind not in (there := kinds_there()):
        raise CommandError(f'No entry is of the kind "{kind}"; there are {", ".join(there)}.')
    if person and person not in OTHERS:
        member = person_by_email(person)
        if member is None:
            raise CommandError(
                f'--person: "{person}" is no member\'s e-mail; besides members there are {", ".join(OTHERS)}.'
            )
        person = member.id
    first, last = _day("--from", since), _day("--until", until)
    if first and last and last < first:
        raise CommandError("--until: the period ends before it begins.")
    return Wanted(
        person=person,
        kind=kind,
        agent=agent,
        since=first,
        until=last,
        recipient=recipient,
        decisions_only=show == "decisions",
    )


def _day(option: str, text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise CommandError(f'{option}: "{text}" is no day; write it like 2025-11-29.') from None


def _exported(export: log_export.Export, out: str, *, csv: bool) -> str:
    where = "standard output" if out == "-" else out
    check = (
        "CSV is for spreadsheets and cannot be verified."
        if csv
        else f"Verify it with `python3 manage.py log verify {'FILE' if out == '-' else out}`."
    )
    count = "1 entry was" if export.entries == 1 else f"{export.entries:,} entries were"
    return (
        f"{count} written to {where}. {check}\nHead of the log: entry {export.head.seq}, {export.head.hash}"
    )
