"""The pages as a Django app, so that its commands and templates are found."""

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    """Everything a browser meets."""

    name = "dashboard"
