"""The domain as a Django app."""

from django.apps import AppConfig


class ApprovalsConfig(AppConfig):
    """Runs, campaigns, decisions and their execution."""

    name = "approvals"
    default_auto_field = "django.db.models.BigAutoField"
