"""One person's figures of some days, each with the list of the counted rows."""

from typing import NamedTuple
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _, pgettext

from catalogue.rights import sees_cost
from core.money import rupiah, signed_rupiah
from core.periods import Period
from core.rights import Right
from earnings.presenting import percent
from earnings.services.people import PersonFigures
from purchases.events import FULL_NUMBER_SEEN, PRINTED
from purchases.filters import ENDED_BY_PEOPLE, NOT_THROUGH, OPEN_ONES
from purchases.states import Status
from staff.models import User

#: The days that a click chooses, by the same names and in the same order as in the lists.
PERSON_DAYS = {days.value: days.label for days in Period if days not in {Period.LAST_WEEK, Period.LAST_MONTH}}

# Most people look at these days, so a day without a sale is shown for them.
_ALWAYS = {"sales", "profit", "sold"}


class Counted(NamedTuple):
    """One figure. `name` is for scripts and tests; `url` the list of the counted rows; `more` is shown next to it."""

    name: str
    words: str
    shown: str
    url: str
    is_off: bool = False
    more: str = ""


def counted_of(row: PersonFigures, days: Period, reader: User, *, paid_for: str) -> tuple[list[Counted], list[Counted]]:
    """The figures of a row of these days that the reader may see; and separately, those that are zero.

    Sales are always among the first. `paid_for`: the reason of a payout by hand.
    """
    person, figures = row.person, row.figures

    def orders(status: str = "") -> str:
        return _list("order_list", cashier=person.username, days=days.value, status=status)

    def acts(kind: str) -> str:
        return _list("audit_list", person=person.username, days=days.value, kind=kind)

    shifts = _list("shift_list", cashier=person.pk, days=days.value)
    if row.shift:
        shifts = reverse("shift_detail", args=[row.shift])
    refunds = _list("refund_list", state="given", person=person.pk, given=days.value)
    # What an owner wants to know first about a day is in the first row, on a phone and on a desk.
    counted = [
        Counted("sales", _("Sales"), rupiah(figures.sales), orders(Status.SUCCESS)),
        *(
            [Counted("profit", _("Profit"), rupiah(figures.profit), orders(Status.SUCCESS))]
            if sees_cost(reader)
            else []
        ),
        Counted("sold", _("Sold"), f"{figures.sold:n}", orders(Status.SUCCESS)),
        Counted("given-back", _("Refunds given"), rupiah(row.given_back), refunds),
        Counted("difference", _("Cash difference"), difference_of(row), shifts, bool(row.difference)),
        Counted("cancelled", _("Cancelled"), f"{figures.cancelled:n}", orders(ENDED_BY_PEOPLE)),
        Counted("failed", _("Did not go through"), f"{figures.unsold:n}", orders(NOT_THROUGH)),
        Counted("share", _("Went through"), percent(figures.share), orders(NOT_THROUGH)),
        Counted("open", pgettext("orders", "Open"), f"{figures.open:n}", orders(OPEN_ONES)),
        Counted("paid-out", pgettext("drawer", "Paid out by hand"), rupiah(row.paid_out), shifts, more=paid_for),
    ]
    # The activity log has each printed receipt; a copy is one of them.
    sees_acts = reader.has_perm(Right.VIEW_AUDIT)
    prints = acts(PRINTED.key) if sees_acts else ""
    counted.append(Counted("reprints", _("Copies of receipts"), f"{row.reprints:n}", prints))
    if sees_acts:
        looks = acts(FULL_NUMBER_SEEN.key)
        counted.append(Counted("numbers-seen", _("Customers' full numbers seen"), f"{row.numbers_seen:n}", looks))
    nothing = {rupiah(0), f"{0:n}", percent(None)}
    shown = [figure for figure in counted if figure.name in _ALWAYS or figure.shown not in nothing]
    return shown, [figure for figure in counted if figure not in shown]


def difference_of(row: PersonFigures) -> str:
    """Rupiah by which the person's counts were off, and whether a drawer is not counted yet."""
    off = signed_rupiah(row.difference) if row.difference or not row.is_uncounted else ""
    return " · ".join(filter(None, [off, _("not counted yet") if row.is_uncounted else ""]))


def _list(page: str, **filters: object) -> str:
    return f"{reverse(page)}?{urlencode({name: value for name, value in filters.items() if value})}"
