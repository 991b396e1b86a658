"""Forms that rooms above add to the invitation, and whose answers they keep with the new person.

A room registers its form in its `joining.py`, which is imported for the first invitation.
"""

from collections.abc import Callable
from typing import Any, Protocol

from core.parts import FromRooms
from staff.models import User


class Joining(Protocol):
    """A room's form, for inviters with `Right.CHANGE_LIMITS`; all of its fields may stay empty."""

    fields: dict[str, Any]

    @property
    def errors(self) -> Any:
        """The errors of the typed values."""

    def is_valid(self) -> bool:
        """Whether `keep` can be called."""

    def has_changed(self) -> bool:
        """Whether anything was typed."""

    def keep(self, person: User, *, actor: User) -> None:
        """Store the typed values, in the transaction of the invitation; a refusal also becomes an error of the form.

        Raises `Refused`.
        """


_FORMS: FromRooms[Callable[[Any], Joining]] = FromRooms("joining")
#: Adds this form to the invitation; it is called with the posted values (None without a post).
asks = _FORMS.add


def joining_forms(data: Any) -> list[Joining]:
    """The forms of every room."""
    return [form(data) for form in _FORMS.all()]
