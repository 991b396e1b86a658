"""Accounts and sign-in: a person who may manage staff invites people. Nobody signs up."""

from typing import Any

import structlog
from allauth.account.adapter import DefaultAccountAdapter
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from audit.services import record
from core.addresses import address_of
from staff.confirming import shown_factor
from staff.cookies import devices_in, remember_device
from staff.errors import SLOWED, slowed_words
from staff.events import BREAK_GLASS_USED, SIGN_IN, SIGN_OUT
from staff.models import User
from staff.services.attempts import begin_attempt
from staff.services.break_glass import is_break_glass
from staff.services.throttle import Slowed
from staff.sessions import note_sign_in
from staff.stages import note_shown_factor

log = structlog.get_logger()


class StaffAccounts(DefaultAccountAdapter):  # type: ignore[misc]
    """allauth's adapter: no sign-up, our own throttle, a second step, and a record of it all."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_password_mismatch": _("The user name or the password is wrong.")
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Always False: a staff account begins with an invitation."""
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Does nothing: allauth's own counters are not used."""

    def authenticate(self, request: HttpRequest, **credentials: Any) -> AbstractBaseUser | None:
        """The person with this name and password. Raises `ValidationError` for a person who has to wait."""
        try:
            attempt = begin_attempt(
                credentials["username"],
                credentials["password"],
                address=address_of(request),
                known_devices=devices_in(request),
                code=shown_factor(request).code,
            )
        except Slowed as slowed:
            log.warning("sign_in_slowed", address=address_of(request), wait=slowed.seconds)
            facts = {"seconds": slowed.seconds}
            raise ValidationError(slowed_words(slowed.seconds), code=SLOWED, params=facts) from slowed
        person: User | None = super().authenticate(request, **credentials)
        if person is None or person.is_outside:
            attempt.failed()
            return None
        attempt.succeeded()
        if attempt.has_shown_factor:
            note_shown_factor(request, person)
        return person

    def is_safe_url(self, url: str | None) -> bool:
        """Whether this address stays in the shop; an invalid one does not."""
        try:
            return bool(super().is_safe_url(url))
        except ValueError:  # "//["
            return False

    def get_login_stages(self) -> list[str]:
        """The only step after the password is our own."""
        return ["staff.stages.SecondStep"]

    def login(self, request: HttpRequest, user: AbstractBaseUser) -> None:
        """Begin a session, with its time and browser."""
        super().login(request, user)
        note_sign_in(request)
        assert isinstance(user, User)  # noqa: S101
        log.info("signed_in", person=user.pk, address=address_of(request))
        record(SIGN_IN, actor=user)
        if is_break_glass(user):
            log.error("break_glass_used", person=user.pk, address=address_of(request))
            record(BREAK_GLASS_USED, actor=user)

    def post_login(self, request: HttpRequest, user: AbstractBaseUser, **facts: Any) -> HttpResponse:
        """The next page; the browser is a known device from now on."""
        response: HttpResponse = super().post_login(request, user, **facts)
        assert isinstance(user, User)  # noqa: S101
        remember_device(response, request, user)
        return response

    def logout(self, request: HttpRequest) -> None:
        if isinstance(request.user, User):
            log.info("signed_out", person=request.user.pk, address=address_of(request))
            record(SIGN_OUT, actor=request.user)
        super().logout(request)

    def set_password(self, user: AbstractBaseUser, password: str) -> None:
        """Replace the password if it is still the one that was checked, and nothing else. Devices become unknown again.

        Raises `PermissionDenied` when a link replaced it meanwhile, or the account was switched off.
        """
        assert isinstance(user, User)  # noqa: S101
        checked = user.password
        user.set_password(password)
        as_checked = User.objects.filter(pk=user.pk, password=checked, is_active=True)
        if not as_checked.update(password=user.password, device_epoch=F("device_epoch") + 1):
            raise PermissionDenied
        user.device_epoch += 1
