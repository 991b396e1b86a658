"""How people get an account here: an admin makes it. Nobody signs up."""

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class ClosedSignup(DefaultAccountAdapter):  # type: ignore[misc]
    """allauth's adapter with the sign-up closed."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Staff accounts are made by an admin, never by a visitor."""
        return False
