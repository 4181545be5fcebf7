"""The Celery application. A message is only a wake-up: what is to be done stands in Postgres."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")

app = Celery("secondlook")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["approvals"])
