"""What rooms above ask about a new person in the same form as the invitation, and keep with the person.

A room says it in its `joining.py`, which is read when the first invitation asks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from django.utils.module_loading import autodiscover_modules

if TYPE_CHECKING:
    from staff.models import User


class Joining(Protocol):
    """A form of such a room, for inviters with `Right.CHANGE_LIMITS`; all of its fields may stay empty."""

    fields: dict[str, Any]

    @property
    def errors(self) -> Any:
        """What is wrong with what was typed."""

    def is_valid(self) -> bool:
        """Whether `keep` can be called."""

    def has_changed(self) -> bool:
        """Whether anything was typed."""

    def keep(self, person: User, *, actor: User) -> None:
        """Keep what was typed, in the transaction of the invitation; a refusal is also noted as an error.

        Raises `Refused`.
        """


_FORMS: list[Callable[[Any], Joining]] = []


def asks(form: Callable[[Any], Joining]) -> None:
    """Have an invitation ask with this form, which is made of what was posted (None: nothing was)."""
    _FORMS.append(form)


def joining_forms(data: Any) -> list[Joining]:
    """The forms of every room."""
    _discover()
    return [form(data) for form in _FORMS]


@cache
def _discover() -> None:
    autodiscover_modules("joining")
