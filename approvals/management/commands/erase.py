"""`manage.py erase`: forgetting a person."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from approvals.db.binding import bind
from approvals.exceptions import NotFound
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
from approvals.services.erasure import InFiles


class Command(OperatorCommand):
    """The owner's way to erase what was recorded about somebody."""

    help = (
        "Erase what was recorded about a customer or an address: texts, rows of lists and uploaded files go, structure"
        " and decisions stay."
    )

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
                spelled = erasure.look_through_files(subject=subject)
                found = self._foreseen(subject, spelled)
                if not found:
                    self.say(
                        f"Nothing of {subject} is left to erase in {workspace.slug}: it was erased before, or there is"
                        " only what is kept on purpose."
                    )
                    self._remove_files()
                    self._tell_kept(subject, spelled)
                    return
                self.say(f"Of {subject} in {workspace.slug}, this is erased for good:")
                self._tell(found)
                self._tell_kept(subject, spelled)
                if not options["yes"] and not confirmed("Erase it?"):
                    raise CommandError("Nothing was erased.")
                erased, entry = erasure.erase(
                    by=current_operator(), subject=subject, reason=options["reason"], in_files=spelled.lists
                )
                self.say("Erased:" if entry else "Somebody else erased it meanwhile.")
                if entry:
                    self._tell(erased)
                    self.say(
                        f"Entry {entry.seq} of the decision log says so. Backups taken before still hold it."
                    )
                self._remove_files()

    def _foreseen(self, subject: str, spelled: InFiles) -> Kept:
        try:
            return erasure.foresee(subject=subject, in_files=spelled.lists)
        except NotFound:
            self._tell_kept(subject, spelled)  # nothing is about them, and still a file may spell them
            raise

    def _remove_files(self) -> None:
        """Last, and every time: whoever was killed before has them go now."""
        if removed := erasure.remove_files():
            self.say(f"Files of lists that are not needed any more and were removed: {removed:,}")

    def _tell(self, found: Kept) -> None:
        for number, what in (
            (found.inputs, "what their runs were started with (those cannot start again then)"),
            (found.events, "texts of events (what the runs called, were answered and said)"),
            (found.evidence, "texts of decisions (reasons, and what the deciders saw)"),
            (found.answers, "outcomes of replays (what the runtime answered)"),
            (found.recipients, "rows in the audiences of campaigns (the given spelling, the variables)"),
            (found.planned, "messages that have not left, and are skipped"),
            (found.addresses, "addresses of messages that never began"),
            (found.list_rows, "rows of imported lists (they stay as empty rows, so that the list adds up)"),
            (found.list_files, "lists whose uploaded file goes (it is still recognised by its SHA-256)"),
            (found.released, "entries of the list of the suppressed that were released"),
        ):
            if number:
                self.say(f"  {what}: {number:,}")

    def _tell_kept(self, subject: str, spelled: InFiles) -> None:
        """What an erasure leaves, and why: nobody is to think that it is gone."""
        objections, attempts = erasure.kept_on_purpose(subject=subject)
        if objections:
            self.say(
                f"  kept, entries by which they are not to be written to, with the address: {objections:,}"
            )
            self.say("    Without them nobody could hold to it that this person wants no mail.")
        if attempts:
            self.say(f"  kept, messages that were sent or tried, with the address: {attempts:,}")
            self.say("    They prove what was sent where.")
        for file in spelled.attached:
            used = "; ".join(file.used) or "attached by no campaign"
            self.say(f"  kept, a file in the storage that spells {subject}: {file.stored_as}")
            self.say(f"    {used}")
        if spelled.attached:
            self.say(
                "    What was attached is evidence of what was sent. What nobody needs as that, delete there."
            )
