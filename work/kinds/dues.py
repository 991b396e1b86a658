"""Bills of followed numbers that have to be paid, or about which a person decides."""

import datetime as dt
from collections.abc import Collection
from typing import Any

from django.conf import settings
from django.db.models import DateTimeField, F, Func, QuerySet
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext, gettext_lazy as _, npgettext_lazy, pgettext, pgettext_lazy

from core.money import rupiah
from core.rights import Right
from customers.presenting import as_query
from dues.holders import holders_of
from dues.models import ASKS, COLLECT_WITHIN, OWES, DueBill, DueState
from staff.models import User
from work.kinds.kind import Line, Moment, Scope, WorkKind


def _begin(day: str) -> Func:
    """The midnight at which this day begins."""
    template = f"(%(expressions)s::timestamp AT TIME ZONE '{settings.TIME_ZONE}')"
    return Func(F(day), template=template, output_field=DateTimeField())


def _payment_of(bill: DueBill) -> tuple[str, str]:
    """The words and address of the check that begins its payment; empty for people who may not see its number."""
    query, product = as_query(bill.number), bill.number.product
    if not query or product is None:
        return "", ""
    return gettext("Check and pay"), f"{reverse('counter_review')}?{urlencode({'product': product.code})}&{query}"


class Dues(WorkKind):
    """Unpaid bills, due at the fine or after some days; about numbers that stay unpaid or are gone a person decides."""

    code = "due"
    words = _("Bills due")
    one = _("Bill")
    counted = npgettext_lazy("work", "%(n)s bill", "%(n)s bills", "n")
    step = pgettext_lazy("work", "Collect")
    look = ("calendar-dollar", "held")
    sees = (Right.VIEW_BILLS, Right.VIEW_CUSTOMERS)
    does = (Right.CHECK_BILLS,)
    within = COLLECT_WITHIN + dt.timedelta(days=1)  # to the end of that day, which the list of bills due names
    branch = "home"
    every = ("due_list", "")
    every_words = _("Full list: pay several, WhatsApp")

    def rows(self, moment: Moment, scope: Scope) -> QuerySet[Any]:
        """Bills that have to be paid, and bills about which a person decides."""
        return DueBill.objects.with_branch().open().standing_at(*OWES, DueState.GONE).annotate(since=_begin("due_on"))

    def due(self) -> Any:
        """The day of the fine; without a fine as for other kinds."""
        return Coalesce(_begin("fine_on"), super().due())

    def lines(self, keys: Collection[int], person: User) -> dict[int, Line]:
        """The customer, biller and total, with a link to the list of bills due, or to the act that is about to pay it.

        The line says so if the bill waits for a decision, or somebody is about to pay it.
        """
        lines = {}
        bills = list(DueBill.objects.with_state().for_table().filter(pk__in=keys))
        holders = holders_of([bill for bill in bills if bill.state in OWES], person)
        may_pay = person.has_perms((Right.VIEW_PRODUCT, Right.CHECK_BILLS, Right.BUY))
        for bill in bills:
            product, state = bill.number.product, DueState(bill.state)
            holder, asks = holders.get(bill.pk), bill.state in ASKS
            about = [product.name if product else "", str(state.label) if asks else "", holder.words if holder else ""]
            leads_to = holder.url if holder and not asks else ""
            lines[bill.pk] = Line(
                subject=bill.number.customer.name,
                url=leads_to or f"{reverse('due_list')}?{urlencode({'bill': bill.pk})}",
                about=" · ".join(filter(None, about)),
                amount=rupiah(bill.to_pay) if bill.state in OWES else "",
                step=pgettext("work", "Decide") if asks else gettext("See the batch") if leads_to else "",
                at_once=_payment_of(bill) if may_pay and bill.state in OWES and not (asks or holder) else ("", ""),
            )
        return lines
