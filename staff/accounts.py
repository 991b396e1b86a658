"""How people get an account here: somebody who may manage staff invites them. Nobody signs up."""

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest

from staff.sessions import note_sign_in


class ClosedSignup(DefaultAccountAdapter):  # type: ignore[misc]
    """allauth's adapter with the sign-up closed."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Staff accounts begin with an invitation, never with a visitor."""
        return False

    def login(self, request: HttpRequest, user: AbstractBaseUser) -> None:
        """Begin a session that says when and where it began."""
        super().login(request, user)
        note_sign_in(request)
