"""`manage.py member add | password`."""

import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser

from approvals.management.operator import (
    OperatorCommand,
    add_workspace_argument,
    current_operator,
    in_workspace,
)
from approvals.rules.permissions import ROLES
from approvals.services import setup


class Command(OperatorCommand):
    """Members."""

    help = "Let somebody into a workspace, or give a member a new password."
    actions = {
        "add": "Let somebody into a workspace; a new user gets a password, printed once.",
        "password": "Give a member a new password, printed once.",
    }

    def add_add_arguments(self, parser: CommandParser) -> None:
        add_workspace_argument(parser)
        parser.add_argument("--email", required=True, metavar="E")
        parser.add_argument("--roles", required=True, metavar="R,R", help=f"of {', '.join(ROLES)}")
        parser.add_argument("--name", default="", help="what the pages call this person")
        parser.add_argument("--password-stdin", action="store_true", help="read the password, one line")

    def handle_add(
        self, *, workspace: str, email: str, roles: str, name: str, password_stdin: bool, **_: Any
    ) -> None:
        password = _one_line_of_input() if password_stdin else ""
        wanted = [role.strip() for role in roles.split(",") if role.strip()]
        with in_workspace(workspace) as row:
            added = setup.add_member(
                by=current_operator(), email=email, roles=wanted, password=password, name=name
            )
        self.say(f"{added.user.email} is a member of {row.slug} now: {', '.join(added.member.roles)}.")
        if added.password:
            self.say(f"Password, shown only now: {added.password}")

    def add_password_arguments(self, parser: CommandParser) -> None:
        add_workspace_argument(parser)
        parser.add_argument("--email", required=True, metavar="E")
        parser.add_argument("--password-stdin", action="store_true", help="read the password, one line")

    def handle_password(self, *, workspace: str, email: str, password_stdin: bool, **_: Any) -> None:
        given = _one_line_of_input() if password_stdin else ""
        with in_workspace(workspace):
            made_up = setup.set_password(by=current_operator(), email=email, password=given)
        self.say(f"{email} has a new password.")
        if made_up:
            self.say(f"Password, shown only now: {made_up}")


def _one_line_of_input() -> str:
    line = sys.stdin.readline().rstrip("\r\n")
    if not line:
        raise CommandError("--password-stdin expects the password on standard input, on one line.")
    return line
