"""`manage.py runtime add`, `list`, `set-database`, `set-callback`, `new-secret` and `campaign-tool`."""

from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction
from django.utils import timezone

from approvals.db.binding import bind
from approvals.management.operator import (
    OperatorCommand,
    add_workspace_argument,
    as_owner,
    current_operator,
    in_workspace,
)
from approvals.selectors import runtimes
from approvals.selectors.runtimes import RuntimeRow
from approvals.selectors.workspaces import workspace_by_slug
from approvals.services import campaign_tools, listening, setup
from approvals.services.setup import AddedRuntime

NOT_FOUND = "sessions that are not found there count as deleted"


class Command(OperatorCommand):
    """Runtimes."""

    help = "Say where agents run."
    actions = {
        "add": "Add a runtime. http: its signing secret is printed once. adk: its own database is read.",
        "list": "Show the runtimes of a workspace and, of those that are read, how far that is.",
        "set-database": "Say where the database of an ADK runtime is now, such as under a new password. It has to be"
        f" the same store: {NOT_FOUND}.",
        "campaign-tool": "Declare that a call of a tool sends nothing itself: from now on its arguments are proposed"
        " as a campaign, for a person to decide on.",
        "set-callback": "Say where a runtime is told what became of the campaigns that it proposed.",
        "new-secret": "Make the signing secret of a runtime anew and print it once, because the old one got known or"
        " cannot be read any more. Until the runtime has it, it refuses what it is sent. Needs OWNER_DATABASE_URL.",
    }

    def add_add_arguments(self, parser: CommandParser) -> None:
        add_workspace_argument(parser)
        parser.add_argument("--name", required=True, metavar="N")
        parser.add_argument("--kind", default="http", help="http: it reports (the default); adk: it is read")
        parser.add_argument(
            "--base-url",
            required=True,
            metavar="U",
            help="http: POST U/replays starts a run again; adk: where the ADK service answers",
        )
        parser.add_argument(
            "--database-url",
            default="",
            metavar="D",
            help="adk: the database of its sessions, postgresql://USER:PASSWORD@HOST/NAME; a role that reads will do",
        )
        parser.add_argument(
            "--silence-s",
            type=int,
            default=300,
            metavar="S",
            help="seconds without a word that interrupt a run (300)",
        )
        parser.add_argument(
            "--time-limit-s",
            type=int,
            default=21_600,
            metavar="S",
            help="seconds a run may last at most (21600)",
        )
        parser.add_argument(
            "--writes-ahead", action="store_true", help="http: it reports each call before it makes it"
        )
        parser.add_argument(
            "--hides-calls",
            action="store_true",
            help="adk: its agents have tools whose own calls leave no trace in the database",
        )

        add_callback_argument(parser)

    def handle_add(
        self,
        *,
        workspace: str,
        name: str,
        kind: str,
        base_url: str,
        database_url: str,
        silence_s: int,
        time_limit_s: int,
        writes_ahead: bool,
        hides_calls: bool,
        callback_url: str,
        **_: Any,
    ) -> None:
        with in_workspace(workspace) as row:
            added = setup.add_runtime(
                by=current_operator(),
                name=name,
                kind=kind,
                base_url=base_url,
                database_url=database_url,
                silence_s=silence_s,
                time_limit_s=time_limit_s,
                writes_ahead=writes_ahead,
                hides_calls=hides_calls,
                callback_url=callback_url,
            )
        if added.runtime.kind == "adk":
            self.say(f"Runtime {added.runtime.name} of {row.slug} is asked at {added.runtime.base_url}.")
            self.say(
                "Its database is read within seconds; the Setup page and `runtime list` show how far that is."
            )
        else:
            self.say(
                f"Runtime {added.runtime.name} of {row.slug} is asked at {added.runtime.base_url}/replays."
            )
        self._say_listening(added)

    def add_list_arguments(self, parser: CommandParser) -> None:
        add_workspace_argument(parser)

    def handle_list(self, *, workspace: str, **_: Any) -> None:
        with in_workspace(workspace) as row, transaction.atomic():
            found = runtimes.all_runtimes()
        if not found:
            self.say(f"No runtime in {row.slug} yet; `runtime add` makes one.")
        for runtime in found:
            self.say(f"{runtime.name:<24} {runtime.kind:<5} {runtime.base_url:<40} {_state(runtime)}")

    def add_set_database_arguments(self, parser: CommandParser) -> None:
        add_workspace_argument(parser)
        parser.add_argument("--name", required=True, metavar="N")
        parser.add_argument("--database-url", required=True, metavar="D")

    def handle_set_database(self, *, workspace: str, name: str, database_url: str, **_: Any) -> None:
        with in_workspace(workspace) as row:
            changed = setup.set_runtime_database(
                by=current_operator(), runtime=name, database_url=database_url
            )
        self.say(
            f"The database of {changed.name} of {row.slug} is read anew within seconds; `runtime list` shows how."
        )
        self.say(f"It has to be the same store: {NOT_FOUND}.")

    def add_campaign_tool_arguments(self, parser: CommandParser) -> None:
        add_workspace_argument(parser)
        parser.add_argument("--name", required=True, metavar="N", help="the runtime")
        parser.add_argument("--tool", required=True, metavar="T", help="the tool, as its calls name it")
        parser.add_argument("--remove", action="store_true", help="its calls propose nothing any more")

    def handle_campaign_tool(self, *, workspace: str, name: str, tool: str, remove: bool, **_: Any) -> None:
        with in_workspace(workspace) as row:
            change = campaign_tools.withdraw if remove else campaign_tools.declare
            changed = change(by=current_operator(), runtime=name, tool=tool)
        tools = ", ".join(changed.campaign_tools) or "none"
        self.say(f"Tools of {changed.name} of {row.slug} whose calls propose campaigns from now on: {tools}.")

    def add_set_callback_arguments(self, parser: CommandParser) -> None:
        add_workspace_argument(parser)
        parser.add_argument("--name", required=True, metavar="N")
        parser.add_argument(
            "--url",
            required=True,
            metavar="C",
            help="where POST tells it; an empty one: it is not told any more",
        )

    def handle_set_callback(self, *, workspace: str, name: str, url: str, **_: Any) -> None:
        with in_workspace(workspace):
            changed = listening.set_callback(by=current_operator(), runtime=name, callback_url=url)
        if not changed.runtime.callback_url:
            self.say(
                f"{changed.runtime.name} is not told any more what becomes of its campaigns; it can ask."
            )
        self._say_listening(changed)

    def add_new_secret_arguments(self, parser: CommandParser) -> None:
        add_workspace_argument(parser)
        parser.add_argument("--name", required=True, metavar="N")

    def handle_new_secret(self, *, workspace: str, name: str, **_: Any) -> None:
        row = workspace_by_slug(workspace)
        with as_owner(), bind(row.id):
            changed = listening.new_secret(by=current_operator(), runtime=name)
        self.say(
            f"Give it to {changed.runtime.name} of {row.slug}: from now on every request is signed with it."
        )
        self._say_listening(changed)

    def _say_listening(self, changed: AddedRuntime) -> None:
        """Where it is told of its campaigns, and the secret that was made now."""
        if changed.runtime.callback_url:
            self.say(f"It is told what became of its campaigns at {changed.runtime.callback_url}.")
        if changed.signing_secret:
            self.say(f"Signing secret (Standard Webhooks), shown only now: {changed.signing_secret}")


def add_callback_argument(parser: CommandParser) -> None:
    """`--callback-url C`."""
    parser.add_argument(
        "--callback-url",
        default="",
        metavar="C",
        help="where POST tells it what became of its campaigns; without one it asks by itself",
    )


def _state(runtime: RuntimeRow) -> str:
    """How far the reading is, in a few words."""
    read = runtime.observed
    if read is None:
        return "reports by itself"
    looked = f"looked at {read.read_at:%Y-%m-%d %H:%M:%S} UTC" if read.read_at else "nobody has looked yet"
    match runtime.state(timezone.now()):
        case "unread":
            since = f" since {read.troubled_since:%Y-%m-%d %H:%M:%S} UTC" if read.troubled_since else ""
            return f"cannot be read{since}: {read.trouble}"
        case "waiting":
            return "waits for its first read"
        case "first_read":
            return f"first read: {read.pass_done:,} of {read.sessions:,} sessions"
        case "not_looked":
            return f"{looked}; see that a worker of the queue observe runs"
        case _:
            return f"up to date, {looked}"
