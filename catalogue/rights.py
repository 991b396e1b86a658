"""The right to see costs."""

from django.contrib.auth.models import AnonymousUser

from core.rights import Right
from staff.models import User


def sees_cost(person: User | AnonymousUser) -> bool:
    """Whether this person may see costs, and so also the balance and everything that reveals it."""
    return person.has_perm(Right.VIEW_COST)
