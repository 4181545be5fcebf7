"""What `manage.py check --deploy` says beside Django's own words."""

from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register

from approvals.services.own_address import why_nothing_is_sent


@register(Tags.security, deploy=True)
def links_lead_somewhere(**_: Any) -> list[CheckMessage]:
    """An error where nothing would be sent, because the links in messages lead nowhere."""
    why = why_nothing_is_sent()
    return [Error(why, id="secondlook.E001")] if why else []
