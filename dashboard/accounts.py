"""What this product changes about signing in."""

from __future__ import annotations

from smtplib import SMTPException
from typing import TYPE_CHECKING, Any

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest

from approvals.exceptions import Unavailable

if TYPE_CHECKING:
    from approvals.models import User


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Members are added by an operator; there is no signing up."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Nobody signs up."""
        return False

    def set_password(self, user: User, password: str) -> None:
        """Store the password and nothing else: app may not write the other columns."""
        user.set_password(password)
        user.save(update_fields=["password"])

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail about an account; Unavailable while there is no mail server."""
        try:
            super().send_mail(template_prefix, email, context)
        except (OSError, SMTPException) as error:
            raise Unavailable(
                "Mail cannot be sent right now. Try again in a few minutes, or ask an admin of your workspace."
            ) from error
