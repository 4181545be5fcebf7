"""Celery entry points: claim, call the connector, record."""
