"""Template tags about drawers, also for the pages of orders and their receipts (`{% load drawers %}`)."""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

from django import template
from django.db.models import Q
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from branches.services import branch_name
from core.access import StaffRequest
from core.rights import Right
from core.times import day_words
from core.together import Given, Together
from credit import methods
from credit.forms import MOST_ALIKE, offered_customers, on_credit
from drawers.forms import GiveBackForm, PaymentForm, UsualDrawerForm
from drawers.models import SMALLEST_COIN, Drawer, Payment, Shift
from drawers.presenting import sales, shifts
from drawers.presenting.sales import ShownSale
from drawers.services import OwnDrawer
from staff.models import User
from staff.services import names_of_holders

register = template.Library()
register.simple_tag(shifts.shift_badge)
register.simple_tag(sales.outcome_badge)
register.simple_tag(sales.shown_sale, name="sale_of")
register.filter("is_elsewhere", sales.is_elsewhere)
register.filter("drawer_words", shifts.drawer_words)
register.filter("cashier_words", shifts.cashier_words)
register.filter("shift_words", shifts.shift_words)
register.filter("cash_lines", shifts.cash_lines)
register.filter("in_coins", sales.change_in_coins)

# The notes that customers usually pay with, in rupiah: one press enters the next multiple of each.
_NOTES = (10_000, 20_000, 50_000, 100_000)
# The name and the tab of a customer who may buy on credit.
_TAB = ("name", "credit__balance", "credit__cap", "credit__oldest_due")


@register.simple_tag
def usual_drawer_form(person: User, rights: set[str]) -> UsualDrawerForm | None:
    """The form of the person's usual drawer; None if the role's `rights` allow no drawer, or the branch has none."""
    if not person.is_superuser and Right.USE_DRAWERS not in rights:
        return None
    form = UsualDrawerForm(person=person)
    return form if form.drawers else None


@register.simple_tag
def who_gives_back(payment: Payment) -> list[str]:
    """The names of some people who may note that the customer of this sale has the money back."""
    return names_of_holders(Right.VIEW_ORDERS, Right.GIVE_BACK, branch=payment.branch_id)


@register.simple_tag
def branch_of_sales(person: User, own: OwnDrawer | None) -> str:
    """The name of the branch in which this person sells now, with this drawer; "" while the shop has one branch."""
    shift = own.shift if own else None
    return branch_name(shift.drawer.branch_id if shift else person.sells_in)


@register.filter
def less(amount: int, other: int) -> int:
    """`{{ amount|less:other }}`: rupiah."""
    return amount - other


@register.simple_tag
def shift_link(shift: Shift, person: User, words: object = "") -> SafeString:
    """`{% shift_link shift user words %}`: the words, else the shift's number; a link for people who may see it."""
    words = words or f"{gettext('Shift')} {shift.pk}"
    if not shifts.may_see_shift(shift, person):
        return format_html("{}", words)
    return format_html('<a href="{}">{}</a>', shift.get_absolute_url(), words)


@register.simple_tag
def forms_of(sale: ShownSale, person: User) -> dict[str, Any]:
    """`{% forms_of sale user as forms %}`: the forms that change its payment, and note a refund.

    `ways`: the methods that may be chosen.
    """
    payment = sale.payment
    paid: dict[str, Any] = {"method": payment.method, "customer": sale.debtor}
    slip = payment.reference if sales.slip_of(payment) == payment.reference else ""
    change = {**paid, "cash_given": payment.cash_given, "reference": slip}
    return {
        "ways": methods.METHODS,
        "payment": PaymentForm(initial=change, auto_id="paid-%s") if sale.may_change else None,
        "give_back": GiveBackForm(
            initial=paid, person=person, debt=sale.debt, sold_in=payment.sold_in_id, auto_id="back-%s"
        )
        if payment.is_owed and sale.may_give_back
        else None,
    }


@register.inclusion_tag("drawers/paid_by.html")
def paid_by(request: StaffRequest, destination: str, total: int, owner: int | None = None) -> dict[str, Any]:
    """`{% paid_by request destination total %}`: inside the form that places an order, how `total` rupiah are paid.

    The customer who saved the number `destination` is offered as the debtor, or the one with the key `owner`.
    Cash unless somebody chooses another way. Empty for a person with no open drawer and no right to sell on credit. A
    person who could open a drawer reads that the sale is in no shift.
    """
    person = request.user
    may_owe, may_use = person.has_perm(Right.USE_CREDIT), person.has_perm(Right.USE_DRAWERS)
    if not (may_owe or may_use):
        return {}
    whose = {"destination": destination} if owner is None else {"owner": owner}
    own_shifts, drawers, names, owners = _paid_by_questions(by_key=owner is not None).read(person=person.pk, **whose)
    debtor = request.POST.get("paid_by_customer", "").strip()
    if may_owe and debtor and not any(name.casefold() == debtor.casefold() for name, *_tab in names):
        names += on_credit().filter(name__iexact=debtor).values_list(*_TAB)  # later than the names that are offered
    has_shift, may_owe = bool(own_shifts), may_owe and bool(names)
    offered = [
        row for row in methods.METHODS if (may_owe if row.needs_debtor else has_shift or row.code == methods.CASH)
    ]
    shown = sorted(offered, key=lambda row: row.key or "~")
    in_coins = total + -total % SMALLEST_COIN
    notes = sorted({in_coins, *(-(-total // note) * note for note in _NOTES)})
    today = timezone.localdate()
    accounts = [(name, owed, cap, _late(oldest_due, today)) for name, owed, cap, oldest_due in names]
    by_name = {name.casefold(): account for name, *account in accounts}
    is_unknown = bool(debtor) and debtor.casefold() not in by_name
    is_owner = bool(owners) and not debtor
    own = owners[0].credit if is_owner else None
    account = (own.balance, own.cap, _late(own.oldest_due, today)) if own else by_name.get(debtor.casefold())
    owed, cap, late = account or (0, 0, "")
    # The form came back although it was sent: a field that the chosen way needs and lacks takes the focus.
    method = methods.find_method(request.POST.get("paid_by", "")) if "confirm" in request.POST else None
    lacks_debtor = bool(method and method.needs_debtor) and not owners
    return {
        "methods": shown if len(shown) > 1 else [],
        "total": total,
        "notes": notes,
        "changes": [(note, note - in_coins) for note in notes if note > in_coins],
        "without_coin": total % SMALLEST_COIN,
        "in_coins": in_coins,
        "coin": SMALLEST_COIN,
        "exact_ways": ", ".join(str(row.words) for row in shown if not row.counts_as_cash),
        "chosen": request.POST.get("paid_by") or methods.CASH,
        "reference": request.POST.get("paid_reference", ""),
        "transfer_reference": request.POST.get("transfer_reference", ""),
        "needs_reference": any(row.needs_reference for row in offered),
        "takes_reference": any(row.takes_reference for row in offered),
        "cash_given": request.POST.get("cash_given", ""),
        "has_drawer": has_shift,
        "is_in_no_shift": may_use and not has_shift and bool(drawers),
        "may_owe": may_owe,
        "customer": debtor or (owners[0].name if may_owe and owners else ""),
        "is_unknown": is_unknown or (lacks_debtor and not debtor),
        "meant": _meant_by(debtor, [name for name, *_ in accounts]) if is_unknown else [],
        "lacks_slip": bool(method and method.needs_reference) and not request.POST.get("paid_reference", "").strip(),
        "debt": {"is_known": account is not None, "owed": owed, "then": owed + total, "cap": cap, "late": late},
        "names": format_html_join(
            "",
            '<option value="{}" data-owed="{}" data-cap="{}"{}></option>',
            (
                (name, owed, cap, format_html(' data-late="{}"', late) if late else "")
                for name, owed, cap, late in accounts
            ),
        ),
    }


def _meant_by(part: str, names: Sequence[str]) -> list[str]:
    """The names that this part of a name may mean; none that two customers have, because it takes no debt."""
    times = Counter(name.casefold() for name in names)
    return [name for name in names if part.casefold() in name.casefold() and times[name.casefold()] == 1][:MOST_ALIKE]


def _late(oldest_due: dt.date | None, today: dt.date) -> str:
    """The words for the time since which a debt is overdue; "" without one."""
    is_late = oldest_due is not None and oldest_due < today
    return gettext("overdue since %(day)s") % {"day": day_words(oldest_due)} if is_late else ""


@cache
def _paid_by_questions(*, by_key: bool) -> Together:
    """The person's open shift, a drawer, the customers who may buy on credit, and the one with the key or number."""
    whose = Q(pk=Given("owner")) if by_key else Q(numbers__destination=Given("destination"))
    return Together(
        Shift.objects.filter(cashier=Given("person"), closed_at=None).values_list("pk"),
        Drawer.objects.filter(is_active=True).values_list("pk")[:1],
        offered_customers().values_list(*_TAB),
        on_credit().filter(whose).order_by("pk").select_related("credit")[:1],
    )
