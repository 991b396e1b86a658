"""The step of a sign-in after the password."""

from typing import Any

from allauth.account.stages import LoginStage
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from staff.models import User
from staff.services.factors import has_factor
from staff.sessions import note_provider, noted_provider

# The mark of a sign-in that has already shown a factor: a passkey, or a code with the password.
_SHOWN = "_shown_factor_of"
_PROOF = "proof"
_THROUGH = "through"  # the provider's issuer: the second step is another request


def note_shown_factor(request: HttpRequest, person: User) -> None:
    """Note that this request has shown a second factor of this person."""
    setattr(request, _SHOWN, person.pk)


class SecondStep(LoginStage):  # type: ignore[misc]
    """Asks people with a second factor for it; the session begins after it."""

    key = "second_step"
    urlname = "second_step"

    def handle(self) -> tuple[Any, bool]:
        """Go on, or first show the page that asks for the factor."""
        person = self.login.user
        if not has_factor(person) or getattr(self.request, _SHOWN, None) == person.pk:
            return None, True
        self.state[_PROOF] = person.get_session_auth_hash()
        self.state[_THROUGH] = noted_provider(self.request)
        return redirect(self.urlname), True

    def exit(self) -> HttpResponse:
        """The factor was shown: begin the session, with the facts of the sign-in's beginning."""
        note_provider(self.request, self.state.get(_THROUGH, ""))
        begun: HttpResponse = super().exit()
        return begun

    def is_current(self) -> bool:
        """Whether the password has not changed since, the account is active, and there is a factor to ask for."""
        person: User = self.login.user
        is_proved = bool(self.state.get(_PROOF) == person.get_session_auth_hash())
        return person.is_active and is_proved and has_factor(person)
