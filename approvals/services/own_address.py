"""Whether messages may leave with the links that this installation puts into them: asked before anything is sent."""

from django.conf import settings

from approvals.rules.own_address import why_links_lead_nowhere


def why_nothing_is_sent() -> str:
    """Why no campaign is sent from here, one sentence with what to do; empty where it may be.

    It may with any address where nobody outside is written to: all mail is caught, as under `up`, or goes only to the
    domains of those who try things.
    """
    if settings.MAIL_CATCHER_DIR or settings.ALLOWED_RECIPIENT_DOMAINS:
        return ""
    return why_links_lead_nowhere(settings.BASE_URL)
