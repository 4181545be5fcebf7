"""`manage.py migrate`: as the owner, the one command that holds the owner's credentials; then the grants."""

from typing import Any

import environ
from django.conf import settings
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections

from approvals import sql
from approvals.management.operator import spoken_errors


class Command(migrate.Command):
    """Django's migrate, run as the owner of every object."""

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.OWNER_DATABASE_URL:
            raise CommandError("Set OWNER_DATABASE_URL: only the owner of the tables may migrate them.")
        connection = connections["default"]
        connection.close()
        owner = environ.Env.db_url_config(settings.OWNER_DATABASE_URL)
        connection.settings_dict.update(
            {key: owner[key] for key in ("NAME", "USER", "PASSWORD", "HOST", "PORT")}
        )
        connection.guarded = False  # type: ignore[attr-defined]  # our backend (approvals.db.base)
        with spoken_errors():
            super().handle(*args, **options)
        with connection.cursor() as cursor:
            cursor.execute(sql.read("grants.sql", prefix=settings.ROLE_PREFIX))
        connection.close()
