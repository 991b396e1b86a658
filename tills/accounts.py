"""Signing in with a password at a till."""

from django.contrib.auth.models import AbstractBaseUser
from django.http import HttpRequest
from django.urls import reverse

from staff.accounts import StaffAccounts
from staff.models import User
from tills.services import let_go, note_password
from tills.sessions import till_token


class AccountsAtTills(StaffAccounts):
    """The adapter of staff. A password clears the person's own wrong PINs; signing out leads to the lock screen."""

    def login(self, request: HttpRequest, user: AbstractBaseUser) -> None:
        """Begin the session; nobody is at the till by PIN from now on."""
        super().login(request, user)
        assert isinstance(user, User)  # noqa: S101
        note_password(user, token=till_token(request))

    def logout(self, request: HttpRequest) -> None:
        """End the session; the till is free."""
        if isinstance(request.user, User):
            let_go(till_token(request), request.user)
        super().logout(request)

    def get_logout_redirect_url(self, request: HttpRequest) -> str:
        """The lock screen at a till; elsewhere the usual page after signing out."""
        return reverse("till") if till_token(request) else str(super().get_logout_redirect_url(request))
