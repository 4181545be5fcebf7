"""`manage.py migrate`: as the owner of every object; then the grants, and where a new database lives."""

from typing import Any

from django.conf import settings
from django.core.management.commands import migrate
from django.db import connection

from approvals import sql
from approvals.management.operator import as_owner, spoken_errors


class Command(migrate.Command):
    """Django's migrate, run as the owner of every object."""

    def execute(self, *args: Any, **options: Any) -> Any:
        with spoken_errors():  # the checks of the models ask the database too, before anything else
            return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        with spoken_errors(), as_owner(guarded=False):
            super().handle(*args, **options)
            with connection.cursor() as cursor:
                cursor.execute(sql.read("grants.sql", prefix=settings.ROLE_PREFIX))
                cursor.execute("select adopt_place() where not exists (select from approvals_place)")
