"""`manage.py restored`: this copy of the database is the real one from now on."""

from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser

from approvals.db.binding import bind
from approvals.management.operator import (
    OperatorCommand,
    as_owner,
    confirmed,
    current_operator,
    spoken_errors,
)
from approvals.selectors.place import stand
from approvals.selectors.workspaces import all_workspaces
from approvals.services import restoring


class Command(OperatorCommand):
    """The owner's word after a restore, or a fail-over."""

    help = "After a restore: pause everything that is due, put in doubt what was under way, and stand here from now on."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--taken-at",
            metavar="TIME",
            help="when the backup was taken, as 2026-05-04T13:30 (UTC), for the log",
        )
        parser.add_argument("--yes", action="store_true", help="do not ask")

    def handle(self, *args: Any, **options: Any) -> None:
        del args
        taken_at = _time(options["taken_at"])
        with spoken_errors():
            if not stand().moved:
                self.say(
                    "This database was not moved. Go on only where an older copy of its files was put back."
                )
            self.say(
                "Everything that is due is paused, and what was under way is in doubt, until a person decides."
                " The old database must not run any more."
            )
            if not options["yes"] and not confirmed("Is this the real database from now on?"):
                raise CommandError("Nothing was changed.")
            workspaces = all_workspaces()
            with as_owner():
                since = restoring.begin()
                for workspace in workspaces:
                    with bind(workspace.id):
                        held = restoring.hold_back(by=current_operator(), since=since, taken_at=taken_at)
                    self.say(
                        f"{workspace.slug}: paused: replays {held.paused_replays}, sendings {held.paused_sends};"
                        f" in doubt: replays {held.replays_in_doubt}, messages {held.deliveries_in_doubt}."
                        f" Tests: taken back {held.tests_taken_back}, in doubt {held.tests_in_doubt}."
                    )
                restoring.finish()
        self.say("Done. Web, workers and dispatcher may start; what needs a decision stands in the queue.")


def _time(text: str | None) -> datetime | None:
    if not text:
        return None
    try:
        taken_at = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"--taken-at needs a time such as 2026-05-04T13:30, not {text!r}.") from None
    taken_at = taken_at if taken_at.tzinfo else taken_at.replace(tzinfo=UTC)
    if taken_at > datetime.now(UTC):
        raise CommandError("--taken-at lies in the future.")
    return taken_at
