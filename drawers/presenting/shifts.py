"""Shifts and their cash in words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _, gettext_lazy, pgettext

from branches.seeing import own_branch
from core.looks import badge
from core.money import signed_rupiah
from core.rights import Right
from credit import methods
from drawers.models import Shift
from drawers.services import DayLine, Totals
from staff.models import User


def shift_badge(shift: Shift) -> SafeString:
    """The badge: open, closed and right, or closed with a difference; and the difference at its opening."""
    badges, opening = [], shift.opening_difference
    if shift.is_open:
        badges.append(badge(("lock-open", "queued"), pgettext("shift", "Open")))
    elif shift.difference:
        badges.append(badge(("alert-triangle", "held"), signed_rupiah(shift.difference)))
    elif not opening:
        badges.append(badge(("circle-check", "success"), pgettext("shift", "Closed")))
    if opening:
        words = pgettext("shift", "Opened with %(amount)s") % {"amount": signed_rupiah(opening)}
        badges.append(badge(("alert-triangle", "held"), words))
    return format_html_join(" ", "{}", ((shown,) for shown in badges))


def may_see_shift(shift: Shift, person: User) -> bool:
    """Whether the person may see the shift: an own one, or any with the right to all; none of an unseen branch."""
    is_allowed = shift.cashier_id == person.pk or person.has_perm(Right.VIEW_SHIFTS)
    return is_allowed and not _is_in_other_branch(shift)


def _is_in_other_branch(shift: Shift) -> bool:
    own = own_branch()
    return own is not None and shift.drawer.branch_id != own


def drawer_words(shift: Shift) -> str:
    """The name of the shift's drawer; empty for a branch that the reader does not see."""
    return _("Drawer of another branch") if _is_in_other_branch(shift) else shift.drawer.name


def cashier_words(shift: Shift) -> str:
    """Whose shift it is; of a branch that the reader does not see only that it is another one's drawer."""
    return drawer_words(shift) if _is_in_other_branch(shift) else shift.cashier.shown_name


def shift_words(shift: Shift) -> str:
    """ "Laci 1 · Sari": the drawer and the cashier; neither for a branch that the reader does not see."""
    return drawer_words(shift) if _is_in_other_branch(shift) else f"{shift.drawer.name} · {shift.cashier.shown_name}"


@dataclass(frozen=True)
class Line:
    """One line of a shift's sum: name, words, rupiah, and the number of its entries."""

    name: str
    words: str
    amount: int
    count: int = 0


# The parts of the expected cash, in the order of the formula.
_CASH_PARTS: dict[str, tuple[Any, Callable[[Totals], int]]] = {
    "opening": (gettext_lazy("Opening count"), lambda totals: totals.opening),
    "cash_sales": (gettext_lazy("Cash sales"), lambda totals: totals.in_cash(totals.sales)),
    "cash_refunds": (gettext_lazy("Cash given back"), lambda totals: totals.in_cash(totals.refunds)),
    "credit_cash": (gettext_lazy("Credit paid in cash"), lambda totals: totals.in_cash(totals.credit)),
    "credit_out_cash": (gettext_lazy("Credit paid out in cash"), lambda totals: totals.in_cash(totals.credit_out)),
    "paid_in": (gettext_lazy("Paid in"), lambda totals: totals.paid_in),
    "paid_out": (gettext_lazy("Paid out"), lambda totals: totals.paid_out),
}
_RARE = "credit_out_cash"  # shown only if there was any


def cash_lines(totals: Totals) -> list[Line]:
    """The parts of the expected cash."""
    return _lines_of({name: amount_in(totals) for name, (_words, amount_in) in _CASH_PARTS.items()})


def day_cash_lines(shifts: Sequence[Totals], *, expected: int) -> list[Line]:
    """The parts of a day's expected cash (rupiah): the cash in its drawers before, and the movements of its shifts."""
    moved = {
        name: sum(map(amount_in, shifts)) for name, (_words, amount_in) in _CASH_PARTS.items() if name != "opening"
    }
    start = expected - sum(moved.values())
    return [Line("before", _("In the drawers at the start"), start), *_lines_of(moved)]


@dataclass(frozen=True)
class CashOfDay:
    """Whether the cash of a day adds up: a code, and a sentence."""

    code: str
    words: str

    @property
    def is_off(self) -> bool:
        """Whether a count differs from what was expected."""
        return self.code in {"off", "evened"}


def cash_of_lines(lines: Sequence[DayLine], *, difference: int, is_open: bool, has_more: bool) -> CashOfDay:
    """The words for shifts' cash. `difference`: rupiah; `is_open`: not all counted; `has_more`: sales in no shift."""
    if difference:
        return CashOfDay("off", _("The cash is off by %(amount)s.") % {"amount": signed_rupiah(difference)})
    if any(line.difference or line.opening_difference for line in lines):
        return CashOfDay("evened", _("Counts of the cash were off, by amounts that make each other good."))
    if is_open:
        return CashOfDay("open", _("Not all cash is counted yet: a drawer is open."))
    if has_more:
        return CashOfDay("outside", _("The counted cash adds up, but some sales are in no shift."))
    if not lines:
        return CashOfDay("none", _("No cash was counted on this day."))
    return CashOfDay("right", _("The cash adds up."))


def _lines_of(amounts: dict[str, int]) -> list[Line]:
    return [
        Line(name, str(_CASH_PARTS[name][0]), amount) for name, amount in amounts.items() if amount or name != _RARE
    ]


def other_lines(totals: Totals) -> list[Line]:
    """Sales by other ways than cash, less refunds by the same way; this money is not in the drawer.

    Paid debts and payouts by these ways have separate lines.
    """
    sums = [*totals.sales, *totals.refunds, *totals.credit, *totals.credit_out]
    others = {code: methods.method_words(code) for code in sums if code not in totals.cash_methods}
    sold = [
        Line(code, words, totals.sales.get(code, 0) + totals.refunds.get(code, 0))
        for code, words in others.items()
        if totals.sales.get(code) or totals.refunds.get(code)
    ]
    paid, paid_out = _("Credit paid: %(method)s"), _("Credit paid out: %(method)s")
    credit = [
        Line(f"credit_{code}", paid % {"method": words}, totals.credit.get(code, 0)) for code, words in others.items()
    ]
    credit += [
        Line(f"credit_out_{code}", paid_out % {"method": words}, totals.credit_out.get(code, 0))
        for code, words in others.items()
    ]
    return sold + [line for line in credit if line.amount]
