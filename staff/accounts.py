"""How people get an account here: somebody who may manage staff invites them. Nobody signs up."""

from allauth.account.adapter import DefaultAccountAdapter
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from staff.models import User
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

    def set_password(self, user: AbstractBaseUser, password: str) -> None:
        """Replace the password that was checked, and nothing else of the account.

        Raises `PermissionDenied` when a link replaced it meanwhile, or the account was switched off.
        """
        checked = user.password
        user.set_password(password)
        as_checked = User.objects.filter(pk=user.pk, password=checked, is_active=True)
        if not as_checked.update(password=user.password):
            raise PermissionDenied
