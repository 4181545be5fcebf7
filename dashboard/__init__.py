"""The Django project: settings, pages, the embedded servers and the demo."""

from dashboard.celery import app as celery_app

__all__ = ["celery_app"]
