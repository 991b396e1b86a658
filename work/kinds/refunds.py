"""Customers who have to get their money back."""

import datetime as dt
from collections.abc import Collection
from typing import Any

from django.db.models import Case, DateTimeField, ExpressionWrapper, F, QuerySet, Value, When
from django.utils.translation import gettext, gettext_lazy as _, npgettext_lazy, pgettext_lazy

from core.money import rupiah
from core.rights import Right
from drawers.models import Payment
from purchases.presenting import shown_destination
from staff.models import User
from work.kinds.kind import Line, Moment, Scope, WorkKind

_AT_A_DRAWER = dt.timedelta(minutes=30)


class Refunds(WorkKind):
    """Payments of orders that ended without success: the customer gets the money back."""

    code = "refund"
    words = pgettext_lazy("refund", "Refunds due")
    one = _("Refund")
    counted = npgettext_lazy("work", "%(n)s refund", "%(n)s refunds", "n")
    step = pgettext_lazy("work", "Give back")
    look = ("cash-banknote", "bad")
    sees = (Right.VIEW_ORDERS,)
    does = (Right.GIVE_BACK,)
    branch = "branch"
    every = ("refund_list", "?state=all")

    def due(self) -> Any:
        """Half an hour after its end for a sale at a drawer: the customer may still be there, or comes back soon.

        It stays due when the drawer's shift is closed: the customer still waits.
        """
        soon = ExpressionWrapper(F("since") + Value(_AT_A_DRAWER), output_field=DateTimeField())
        return Case(When(sold_in__isnull=False, then=soon), default=super().due())

    def may_see(self, person: User) -> bool:
        """Whether the person sees the list of refunds: people with a drawer, and people who see all shifts."""
        has_list = person.has_perm(Right.USE_DRAWERS) or person.has_perm(Right.VIEW_SHIFTS)
        return has_list and super().may_see(person)

    def rows(self, moment: Moment, scope: Scope) -> QuerySet[Any]:
        return Payment.objects.owed().annotate(since=F("ended_at"))

    def lines(self, keys: Collection[int], person: User) -> dict[int, Line]:
        payments = Payment.objects.filter(pk__in=keys).select_related("debt__account").with_orders()
        return {payment.pk: _line(payment) for payment in payments}


def _line(payment: Payment) -> Line:
    order: Any = payment.order  # of a room above
    is_unpaid = payment.debt is not None and payment.debt.account.balance > 0
    return Line(
        subject=order.product_name,
        url=f"{order.get_absolute_url()}#order-sale",
        number=shown_destination(order),
        amount=rupiah(payment.to_give_back),
        step=gettext("Take it off the account") if is_unpaid else "",
    )
