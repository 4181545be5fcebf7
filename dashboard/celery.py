"""The Celery application. A message is only a wake-up: what is to be done stands in Postgres."""

import os
import sys
from typing import Any

from celery import Celery
from celery.signals import celeryd_init
from django.core.exceptions import ImproperlyConfigured

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

app = Celery("secondlook")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["approvals"])


@celeryd_init.connect  # type: ignore[untyped-decorator]
def refuse_to_start(**_: Any) -> None:
    """A worker does not start on a broken guard, or without its keys."""
    import django

    try:
        django.setup()
        from approvals.services import guards

        guards.require()
    except ImproperlyConfigured as error:
        print(error, file=sys.stderr, flush=True)
        raise SystemExit(1) from None
