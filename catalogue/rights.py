"""Who may see what the shop pays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.rights import Right

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from staff.models import User


def sees_cost(person: User | AnonymousUser) -> bool:
    """Whether this person may see what the shop pays, and so the balance and everything else that moves by it."""
    return person.has_perm(Right.VIEW_COST)
