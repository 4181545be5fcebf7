"""What this product changes about signing in."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no types
    """Members are added by an operator; there is no signing up."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Nobody signs up."""
        return False
