"""`manage.py token create` and `manage.py token revoke`."""

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
    """Tokens of the machine API."""

    help = "Make or end a token by which a runtime speaks to the machine API."
    actions = {"create": "Make a token; it is printed once.", "revoke": "End a token for good."}

    def add_create_arguments(self, parser: CommandParser) -> None:
        add_workspace_argument(parser)
        parser.add_argument("--runtime", required=True, metavar="N", help="the runtime, by its name")
        parser.add_argument("--subject", metavar="S", help="the one subject whose runs it may see and feed")

    def add_revoke_arguments(self, parser: CommandParser) -> None:
        add_workspace_argument(parser)
        parser.add_argument(
            "--token", required=True, metavar="T", help="its id, the characters it begins with, or all of it"
        )

    def handle_create(self, *, workspace: str, runtime: str, subject: str | None, **_: Any) -> None:
        with in_workspace(workspace):
            created = setup.create_token(by=current_operator(), runtime=runtime, subject=subject)
        bound = (
            f", for the subject {created.token.subject} alone" if created.token.subject is not None else ""
        )
        self.say(f"Token {created.token} of runtime {runtime}{bound}; its id is {created.token.id}.")
        self.say(f"The token, shown only now: {created.text}")

    def handle_revoke(self, *, workspace: str, token: str, **_: Any) -> None:
        with in_workspace(workspace):
            revoked = setup.revoke_token(by=current_operator(), token=token)
        self.say(f"Token {revoked} ({revoked.id}) is revoked; nothing is accepted with it any more.")
