"""What the operator's commands share: who runs them, and one sentence instead of a traceback."""

import os
import pwd
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import environ
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser, handle_default_options
from django.db import InterfaceError, OperationalError, ProgrammingError, connections

from approvals.access.actors import Actor, operator
from approvals.db.binding import bind
from approvals.exceptions import Refusal
from approvals.selectors.workspaces import WorkspaceRow, workspace_by_slug

_WHO_AND_WHERE = ("NAME", "USER", "PASSWORD", "HOST", "PORT")
NO_DATABASE = (
    "The database cannot be reached. Start everything with `python3 manage.py up`, name its data folder with --data,"
    " or set DATABASE_URL."
)
NO_OWNER = "Set OWNER_DATABASE_URL: only the owner of the tables may do this."
NO_TABLES = "The tables are not up to date; run `python3 manage.py migrate` first."


def current_operator() -> Actor:
    """Whoever runs this process, by the name of the system account."""
    try:
        return operator(pwd.getpwuid(os.getuid()).pw_name)
    except KeyError:
        return operator(f"uid {os.getuid()}")


@contextmanager
def spoken_errors() -> Iterator[None]:
    """What can go wrong outside of this program becomes a CommandError of one sentence."""
    try:
        yield
    except Refusal as refusal:
        raise CommandError(refusal.text) from refusal
    except ImproperlyConfigured as error:
        raise CommandError(str(error)) from error
    except (OperationalError, InterfaceError) as error:
        raise CommandError(NO_DATABASE) from error
    except ProgrammingError as error:
        if getattr(error.__cause__, "sqlstate", "") not in (
            "42P01",
            "42883",
        ):  # no such table, no such function
            raise
        raise CommandError(NO_TABLES) from error


@contextmanager
def as_owner(*, guarded: bool = True) -> Iterator[None]:
    """Within the block the default alias is the owner of every object, and afterwards what it was.

    `guarded=False` for what works on the tables themselves and not on a workspace's rows.
    """
    if not settings.OWNER_DATABASE_URL:
        raise CommandError(NO_OWNER)
    connection: Any = connections["default"]  # our backend (approvals.db.base)
    owner = environ.Env.db_url_config(settings.OWNER_DATABASE_URL)
    before = {key: connection.settings_dict[key] for key in _WHO_AND_WHERE}
    connection.close()
    connection.settings_dict.update({key: owner[key] for key in _WHO_AND_WHERE})
    connection.guarded = guarded
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(before)
        connection.guarded = True


class OperatorCommand(BaseCommand):
    """A command whose every failure is one sentence and exit code 1.

    A subclass with sub-commands lists them in `actions`, and has a method `add_<action>_arguments` and
    `handle_<action>` for each, with _ for a hyphen.
    """

    requires_system_checks: list[str] = []
    actions: ClassVar[dict[str, str]] = {}  # name: help

    def add_arguments(self, parser: CommandParser) -> None:
        """The sub-commands."""
        # manage.py takes it away before the settings are read; here for --help.
        parser.add_argument("--data", metavar="DIR", help="the data folder of a running `up` (.data)")
        if self.actions:
            sub = parser.add_subparsers(dest="action", required=True, metavar=" | ".join(self.actions))
            for action, text in self.actions.items():
                getattr(self, f"add_{_method(action)}_arguments")(
                    sub.add_parser(action, help=text, description=text)
                )

    def handle(self, *args: Any, **options: Any) -> None:
        """Do what the sub-command says."""
        with spoken_errors():
            getattr(self, f"handle_{_method(options.pop('action'))}")(**options)

    def say(self, text: str) -> None:
        """One line for whoever runs the command."""
        self.stdout.write(text)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """A parser that raises CommandError instead of printing its usage."""
        self._called_from_command_line = False
        return super().create_parser(prog_name, subcommand, **kwargs)

    def run_from_argv(self, argv: list[str]) -> None:
        """As Django does it, but a failure says its sentence and nothing else."""
        try:
            parsed = self.create_parser(argv[0], argv[1]).parse_args(argv[2:])
            handle_default_options(parsed)
            options = vars(parsed)
            self.execute(*options.pop("args", ()), **options)
        except CommandError as error:
            self.stderr.write(str(error).removeprefix("Error: "))
            sys.exit(1)
        finally:
            connections.close_all()


def _method(action: str) -> str:
    return action.replace("-", "_")


@contextmanager
def in_workspace(slug: str) -> Iterator[WorkspaceRow]:
    """Bound to the workspace of this slug."""
    row = workspace_by_slug(slug)
    with bind(row.id):
        yield row


def add_workspace_argument(parser: CommandParser) -> None:
    """`--workspace W`, by its slug."""
    parser.add_argument("--workspace", required=True, metavar="W", help="the workspace, by its slug")


def confirmed(question: str) -> bool:
    """Whether somebody at a terminal says yes; CommandError where nobody can be asked."""
    try:
        return input(f"{question} [yes/no] ").strip().lower() in ("y", "yes")
    except EOFError:
        raise CommandError("Nobody can be asked here; say --yes if you mean it.") from None


class DoneElsewhere(BaseCommand):
    """A command of Django's that does not apply here; `instead` says what does."""

    requires_system_checks: list[str] = []
    instead: ClassVar[str]

    def add_arguments(self, parser: CommandParser) -> None:
        """Whatever was typed."""
        parser.add_argument("words", nargs="*")

    def handle(self, *args: Any, **options: Any) -> None:
        """Say what does it."""
        raise CommandError(self.instead)
