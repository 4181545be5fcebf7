"""`manage.py runtime add`."""

from typing import Any

from django.core.management.base import CommandParser

from approvals.management.operator import (
    OperatorCommand,
    add_workspace_argument,
    current_operator,
    in_workspace,
)
from approvals.services import setup


class Command(OperatorCommand):
    """Runtimes."""

    help = "Say where agents run."
    actions = {"add": "Add a runtime; its signing secret is printed once."}

    def add_add_arguments(self, parser: CommandParser) -> None:
        add_workspace_argument(parser)
        parser.add_argument("--name", required=True, metavar="N")
        parser.add_argument("--kind", default="http", help="http is the only one so far")
        parser.add_argument(
            "--base-url", required=True, metavar="U", help="POST U/replays starts a run again"
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
            "--writes-ahead", action="store_true", help="it reports each call before it makes it"
        )

    def handle_add(
        self,
        *,
        workspace: str,
        name: str,
        kind: str,
        base_url: str,
        silence_s: int,
        time_limit_s: int,
        writes_ahead: bool,
        **_: Any,
    ) -> None:
        with in_workspace(workspace) as row:
            added = setup.add_runtime(
                by=current_operator(),
                name=name,
                kind=kind,
                base_url=base_url,
                silence_s=silence_s,
                time_limit_s=time_limit_s,
                writes_ahead=writes_ahead,
            )
        self.say(f"Runtime {added.runtime.name} of {row.slug} is asked at {added.runtime.base_url}/replays.")
        self.say(f"Signing secret (Standard Webhooks), shown only now: {added.signing_secret}")
