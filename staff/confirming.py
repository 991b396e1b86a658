"""The confirmation of an act in its form: a second factor, or the password of a person without one."""

from collections.abc import Mapping

from django.http import HttpRequest

from core.addresses import host_of
from staff.errors import FactorRefused
from staff.models import User
from staff.services.factors import Shown, has_factor, require_factor
from staff.services.own_factors import confirm_password
from staff.sessions import is_fresh

# The fields that carry the factor.
CODE, ASSERTION = "factor_code", "factor_assertion"


def shown_factor(request: HttpRequest) -> Shown:
    """The second factor in the form that was sent."""
    code, assertion = request.POST.get(CODE, "").replace(" ", ""), request.POST.get(ASSERTION, "")
    return Shown(code, assertion, host_of(request))


def check_factor(request: HttpRequest, *, act: str, content: Mapping[str, object]) -> None:
    """Raise `FactorRefused` unless this very request carries a fresh second factor of the person who is signed in."""
    person = request.user
    assert isinstance(person, User)  # noqa: S101 - views behind staff_only
    require_factor(person, shown_factor(request), act=act, content=content)


def confirm_own(request: HttpRequest, *, act: str, content: Mapping[str, object]) -> None:
    """Raise `FactorRefused` unless the form carries the person's factor, or the password of a person without a factor.

    A person from the provider, who has no password here, must have signed in within the last ten minutes instead.
    """
    person = request.user
    assert isinstance(person, User)  # noqa: S101 - views behind staff_only
    if has_factor(person):
        check_factor(request, act=act, content=content)
    elif not person.is_outside:
        confirm_password(person, request.POST.get("password", ""))
    elif not is_fresh(request):
        raise FactorRefused("fresh")
