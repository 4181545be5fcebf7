"""`manage.py roles --print-sql`: what an administrator of Postgres runs once."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from approvals import sql
from approvals.management.operator import OperatorCommand


class Command(OperatorCommand):
    """The roles."""

    help = "Print the SQL that makes the roles and closes the database to everyone else."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--print-sql", action="store_true", help="print it; nothing is run")
        parser.add_argument("--backup", action="store_true", help="print the role that takes backups too")

    def handle(self, *args: Any, **options: Any) -> None:
        del args
        if not options["print_sql"]:
            raise CommandError(
                "Say --print-sql: nothing but printing is done here, an administrator of Postgres runs the SQL."
            )
        prefix = settings.ROLE_PREFIX
        self.say("-- 1. Once for the server.\n" + sql.read("roles.sql", prefix=prefix))
        self.say("-- 2. In the database.\n" + sql.read("database.sql", prefix=prefix))
        if options["backup"]:
            self.say("-- 3. In the database, for backups.\n" + sql.read("backup.sql", prefix=prefix))
