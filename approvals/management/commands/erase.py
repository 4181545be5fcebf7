"""`manage.py erase`: forgetting a person."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from approvals.db.binding import bind
from approvals.management.operator import (
    OperatorCommand,
    add_workspace_argument,
    as_owner,
    confirmed,
    current_operator,
    spoken_errors,
)
from approvals.selectors.erasure import Kept
from approvals.selectors.workspaces import workspace_by_slug
from approvals.services import erasure


class Command(OperatorCommand):
    """The owner's way to erase what was recorded about somebody."""

    help = "Erase what was recorded about a customer or an address: texts go, structure and decisions stay."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add_workspace_argument(parser)
        parser.add_argument(
            "--subject",
            required=True,
            metavar="S",
            help="the customer as their runs name them, or an address",
        )
        parser.add_argument("--reason", default="", metavar="R", help="why, for the decision log")
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *args: Any, **options: Any) -> None:
        del args
        subject = options["subject"].strip()
        with spoken_errors():
            workspace = workspace_by_slug(options["workspace"])
            with as_owner(), bind(workspace.id):
                found = erasure.foresee(subject=subject)
                if not found:
                    self.say(f"Nothing of {subject} is left in {workspace.slug}: it was erased before.")
                    return
                self.say(f"Of {subject} in {workspace.slug}, this is erased for good:")
                self._tell(found)
                if not options["yes"] and not confirmed("Erase it?"):
                    raise CommandError("Nothing was erased.")
                erased, entry = erasure.erase(
                    by=current_operator(), subject=subject, reason=options["reason"]
                )
        self.say("Erased:" if entry else "Somebody else erased it meanwhile.")
        if entry:
            self._tell(erased)
            self.say(f"Entry {entry.seq} of the decision log says so. Backups taken before still hold it.")

    def _tell(self, found: Kept) -> None:
        for number, what in (
            (found.inputs, "what their runs were started with (those cannot start again then)"),
            (found.events, "texts of events (what the runs called, were answered and said)"),
            (found.evidence, "texts of decisions (reasons, and what the deciders saw)"),
            (found.answers, "outcomes of replays (what the runtime answered)"),
            (found.recipients, "rows in the audiences of campaigns (the given spelling, the variables)"),
            (found.planned, "messages that have not left, and are skipped"),
        ):
            if number:
                self.say(f"  {what}: {number:,}")
