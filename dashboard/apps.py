"""The pages as a Django app, so that its commands and templates are found."""

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    """Everything a browser meets."""

    name = "dashboard"

    def ready(self) -> None:
        """The checks of a deployment are there once they are imported."""
        from dashboard import checks  # noqa: F401
