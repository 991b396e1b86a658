"""Template tags about credit, for the pages of other rooms (`{% load credit %}`)."""

from django import template
from django.db.models import Exists, F, OuterRef, Subquery, Value

from core.rights import Right
from credit import presenting
from credit.models import CreditAccount, CreditEntry
from customers.models import Customer
from staff.models import User

# No index has the payments: the last one is searched among this many entries.
_NEWEST = 50

register = template.Library()
register.simple_tag(presenting.age_badge)
register.simple_tag(presenting.late_badge)
register.simple_tag(presenting.owed_of)


@register.simple_tag
def credit_of(customer: Customer, person: User) -> CreditAccount | None:
    """`{% credit_of customer user as account %}`: the customer's account, as this person may see it.

    `last_paid`: rupiah of the newest payment that was not undone, at `last_paid_at`; None without any among the newest
    entries. `searched`: the number of these; None if the account has fewer. `owes_from_elsewhere`: some are debts of a
    notebook or of another account, whose payments are not among them.
    """
    if not (person.has_perm(Right.USE_CREDIT) or person.has_perm(Right.VIEW_CREDIT)):
        return None
    entries = CreditEntry.objects.filter(account=OuterRef(OuterRef("pk"))).order_by("-at", "-pk")
    latest = entries.values("pk")[:_NEWEST]
    payments = CreditEntry.objects.current().filter(pk__in=latest, kind=CreditEntry.Kind.PAYMENT)
    newest = payments.order_by("-at", "-pk")
    from_elsewhere = CreditEntry.objects.filter(
        pk__in=latest, kind__in=(CreditEntry.Kind.BROUGHT, CreditEntry.Kind.MOVED)
    )
    own = CreditEntry.objects.filter(account=OuterRef("pk")).order_by("-at", "-pk").annotate(n=Value(_NEWEST))
    return (
        CreditAccount.objects.filter(customer=customer.pk)
        .annotate(
            last_paid=Subquery(newest.values(taken=-F("amount"))[:1]),
            last_paid_at=Subquery(newest.values("at")[:1]),
            owes_from_elsewhere=Exists(from_elsewhere),
            searched=Subquery(own.values("n")[_NEWEST - 1 : _NEWEST]),
        )
        .first()
    )
