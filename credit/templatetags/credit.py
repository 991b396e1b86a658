"""Template tags about credit, for the pages of other rooms (`{% load credit %}`)."""

from __future__ import annotations

from django import template

from core.rights import Right
from credit import presenting
from credit.models import CreditAccount
from customers.models import Customer
from staff.models import User

register = template.Library()
register.simple_tag(presenting.age_badge)
register.simple_tag(presenting.due_badge)
register.simple_tag(presenting.owed_of)


@register.simple_tag
def credit_of(customer: Customer, person: User) -> CreditAccount | None:
    """`{% credit_of customer user as account %}`: the customer's account, as this person may see it."""
    if not (person.has_perm(Right.USE_CREDIT) or person.has_perm(Right.VIEW_CREDIT)):
        return None
    return CreditAccount.objects.filter(customer=customer.pk).first()
