"""Who may see what the shop pays."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from staff.models import User


VIEW_COST = "catalogue.view_cost"


def sees_cost(person: User | AnonymousUser) -> bool:
    """Whether this person may see what the shop pays, and so the balance and everything else that moves by it."""
    return person.has_perm(VIEW_COST)
