"""`manage.py workspace create NAME`, `workspace list`, `workspace set-hold` and `workspace set-pace`."""

from typing import Any

from django.core.management.base import CommandParser

from approvals.management.operator import (
    OperatorCommand,
    add_workspace_argument,
    current_operator,
    in_workspace,
)
from approvals.selectors.workspaces import all_workspaces
from approvals.services import setup


class Command(OperatorCommand):
    """Workspaces."""

    help = "Make a workspace, list all of them, or say how long one holds approvals and how fast it sends."
    actions = {
        "create": "Make a workspace.",
        "list": "List all workspaces.",
        "set-hold": "Say for how long an approval can be taken back before anything is sent.",
        "set-pace": "Say how many messages a workspace may send in a minute.",
    }

    def add_create_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument(
            "--hold-s",
            type=int,
            default=setup.HOLD_S,
            metavar="N",
            help=f"seconds in which an approval can be taken back ({setup.HOLD_S})",
        )
        parser.add_argument("--slug", default="", help="its name in addresses; made from NAME otherwise")

    def add_list_arguments(self, parser: CommandParser) -> None:
        del parser

    def add_set_hold_arguments(self, parser: CommandParser) -> None:
        add_workspace_argument(parser)
        parser.add_argument("--hold-s", type=int, required=True, metavar="N", help="seconds; 0: none")

    def handle_set_hold(self, *, workspace: str, hold_s: int, **_: Any) -> None:
        with in_workspace(workspace):
            setup.set_hold(by=current_operator(), hold_s=hold_s)
        held = f"holds an approval for {hold_s:,} seconds" if hold_s else "sends at once what was approved"
        self.say(f"{workspace} {held} from now on.")

    def add_set_pace_arguments(self, parser: CommandParser) -> None:
        add_workspace_argument(parser)
        parser.add_argument(
            "--messages-per-minute", type=int, required=True, metavar="N",
            help="0: as many as the mail server takes",
        )  # fmt: skip

    def handle_set_pace(self, *, workspace: str, messages_per_minute: int, **_: Any) -> None:
        with in_workspace(workspace):
            setup.set_pace(by=current_operator(), messages_per_minute=messages_per_minute)
        limit = f"{messages_per_minute:,} messages a minute" if messages_per_minute else "as fast as it can"
        self.say(f"{workspace} sends {limit} from now on.")

    def handle_create(self, *, name: str, slug: str, hold_s: int, **_: Any) -> None:
        workspace = setup.create_workspace(by=current_operator(), name=name, slug=slug, hold_s=hold_s)
        self.say(
            f'Workspace "{workspace.name}" was made; in commands and addresses it is called {workspace.slug}'
        )

    def handle_list(self, **_: Any) -> None:
        rows = all_workspaces()
        if not rows:
            self.say("There is no workspace yet; `workspace create NAME` makes one.")
        width = max((len(row.slug) for row in rows), default=0)
        for row in rows:
            self.say(f"{row.slug:<{width}}  {row.created_at:%Y-%m-%d}  {row.name}")
