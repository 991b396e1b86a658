"""Figures as the pages show them: tiles with the change against before, and rows with bars."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from babel.numbers import format_decimal, format_percent
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from branches.seeing import names_branches, own_branch
from branches.services import all_branches
from catalogue.models import Category, Product
from core.money import rupiah
from core.rights import Right
from core.times import active_locale, start_of_day
from credit.methods import method_words
from customers.models import Customer
from earnings.periods import NAMES, Chosen
from earnings.services import Figures, Period, figures_by, figures_by_customer, kept_days, totals_of
from purchases.filters import NOBODY
from staff.models import User

#: What the figures are by, as the tabs of the page.
BY: dict[str, str | Promise] = {
    "brand": gettext_lazy("Brand"),
    "category": gettext_lazy("Category"),
    "product": gettext_lazy("Product"),
    "person": gettext_lazy("Cashier"),
    "method": gettext_lazy("Payment"),
    "branch": gettext_lazy("Branch"),
    "customer": gettext_lazy("Customer"),
}


def keys_shown(person: User) -> dict[str, str | Promise]:
    """Those of `BY` that say anything to this person: customers if they see whose number it is, several branches."""
    sees_customers = person.has_perms((Right.VIEW_CUSTOMERS, Right.VIEW_NUMBERS))
    shown = {"branch": names_branches(), "customer": sees_customers}
    return {key: words for key, words in BY.items() if shown.get(key, True)}


# The filter of the list of orders that opens the orders of a row.
_FILTERS = {
    "brand": "brand",
    "category": "category",
    "product": "product",
    "person": "cashier",
    "method": "payment",
    "branch": "branch",
}
_OF_NOBODY = {"customer": {"buyer": NOBODY}}
_MINUTE = 60


def percent(share: float | None) -> str:
    """A share from 0 to 1 as text with at most one decimal; a dash where it is not known."""
    return "–" if share is None else format_percent(share, "#,##0.#%", locale=active_locale())


def _one_decimal(number: float) -> str:
    return format_decimal(number, "#,##0.#", locale=active_locale())


def seconds_words(seconds: int | None) -> str:
    """How long something takes: "8 s", "3 min"; a dash where it is not known."""
    if seconds is None:
        return "–"
    if seconds < 2 * _MINUTE:
        return _("%(n)s s") % {"n": seconds}
    return _("%(n)s min") % {"n": seconds // _MINUTE}


@dataclass(frozen=True)
class Change:
    """By how much a figure is more or less than before."""

    words: str
    is_up: bool

    @classmethod
    def between(cls, now: float | None, before: float | None, *, by_share: bool = True) -> Change | None:
        """In percent, or in percentage points of two shares; None without a before, or where nothing changed."""
        if now is None or before is None or now == before or (by_share and before <= 0):
            return None
        difference = (now - before) / before if by_share else now - before
        words = percent(abs(difference)) if by_share else _("%(n)s points") % {"n": _one_decimal(abs(difference) * 100)}
        return cls(words=words, is_up=difference > 0)


@dataclass(frozen=True)
class Tile:
    """One figure of a period. `name` is for scripts and tests; `value` the plain number.

    `earlier`: the figure before, where it was none: no change in percent says that.
    """

    name: str
    words: str
    shown: str
    value: float | None
    change: Change | None
    earlier: str = ""


def tiles_of(now: Figures, before: Figures, *, with_cost: bool) -> list[Tile]:
    """The figures of a period against those of the one before."""

    def money(name: str, words: str, amount: int, earlier: int) -> Tile:
        return Tile(name, words, rupiah(amount), amount, Change.between(amount, earlier), none_before(amount, earlier))

    def none_before(amount: int, earlier: int) -> str:
        return rupiah(0) if amount and not earlier else ""

    tiles = [money("sales", _("Sales"), now.sales, before.sales)]
    if with_cost:
        tiles.append(money("profit", _("Profit"), now.profit, before.profit))
    tiles.append(Tile("sold", _("Sold"), f"{now.sold:n}", now.sold, Change.between(now.sold, before.sold)))
    change = Change.between(now.share, before.share, by_share=False)
    tiles.append(Tile("share", _("Went through"), percent(now.share), now.share, change))
    return tiles


@dataclass(frozen=True)
class Glance:
    """A period in one line."""

    name: str
    words: str | Promise
    figures: Figures
    change: Change | None
    against: str


def glances_at(now: dt.datetime, chosen: Sequence[Chosen], kept: set[dt.date], today: Figures) -> list[Glance]:
    """Periods that begin before today, each against the one before; all from one look at their days.

    `today`: the figures of this day until now, which the caller has read.
    """
    morning = start_of_day(timezone.localdate(now))
    by_day = figures_by("day", Period(min(each.before.since for each in chosen), morning), kept)
    by_day[timezone.localdate(now)] = today

    def of(period: Period) -> Figures:
        cut = start_of_day(period.last)
        is_whole = period.until in {now, start_of_day(period.last + dt.timedelta(days=1))}
        last = (
            by_day.get(period.last, Figures())
            if is_whole
            else totals_of(figures_by("day", Period(cut, period.until), kept).values())
        )
        return totals_of([*(row for day, row in by_day.items() if period.first <= day < period.last), last])

    return [
        Glance(
            name=each.name,
            words=NAMES[each.name],
            figures=of(each.period),
            change=Change.between(of(each.period).sales, of(each.before).sales),
            against=each.against,
        )
        for each in chosen
    ]


@dataclass(frozen=True)
class Line:
    """The figures of one brand, product, person or method. `bar`: the length of its bar, 0 to 100.

    `is_nobody`: of what no person sold, or of what no saved customer bought.
    """

    chosen: Chosen
    by: str
    key: str
    words: str
    figures: Figures
    before: Figures
    bar: int
    is_nobody: bool

    @property
    def url(self) -> str:
        """The list of orders, narrowed to it; a customer's own page; empty for erased customers and for commands."""
        if self.by == "customer" and not self.is_nobody:
            return reverse("customer_detail", args=[self.key]) if self.key else ""
        narrowed = _OF_NOBODY.get(self.by, {}) if self.is_nobody else {_FILTERS[self.by]: self.key}
        return f"{reverse('order_list')}?{self.chosen.query}&{urlencode(narrowed)}" if narrowed else ""

    @property
    def share(self) -> str:
        """The share that went through."""
        return percent(self.figures.share)

    @property
    def usual(self) -> str:
        """How long one takes on average."""
        return seconds_words(self.figures.usual_seconds)

    @property
    def change(self) -> Change | None:
        """How the sales differ from those before."""
        return Change.between(self.figures.sales, self.before.sales)


@dataclass(frozen=True)
class Report:
    """A period by one key, the most sales first, what has none any more last; with the sums of all.

    `count`: how many lines there are, of which `lines` may be the first. `kept`: the `kept_days` around it.
    """

    chosen: Chosen
    by: str
    count: int
    lines: list[Line]
    now: Figures
    before: Figures
    kept: set[dt.date]


def report_of(chosen: Chosen, by: str, kept: set[dt.date] | None = None, *, most: int | None = None) -> Report:
    """The figures of the period by `by`, and of the period before; with at most so many lines.

    `kept`: the `kept_days` of a time around both.
    """
    kept = kept_days(Period.around(chosen.period, chosen.before)) if kept is None else kept
    periods = chosen.period, chosen.before
    now, before = (
        figures_by_customer(*periods, kept=kept)
        if by == "customer"
        else [figures_by(by, period, kept) for period in periods]
    )
    rows = {key: (now.get(key, Figures()), before.get(key, Figures())) for key in {**now, **_with_sales(before)}}
    if by == "branch" and rows and own_branch() is None:  # one that sells nothing is seen, too
        rows |= {key: (Figures(), Figures()) for key in all_branches() if key not in rows}
    # Names are read of the lines that are shown: a day has hundreds of customers.
    ordered = sorted(rows, key=lambda key: (-rows[key][0].sales, -rows[key][0].placed))[:most]
    words = _WORDS[by](ordered)
    largest = rows[ordered[0]][0].sales if ordered else 0
    lines = [
        Line(
            chosen,
            by,
            *words[key],
            *rows[key],
            bar=round(100 * rows[key][0].sales / (largest or 1)),
            is_nobody=key is None,
        )
        for key in ordered
    ]
    lines.sort(key=lambda line: (-line.figures.sales, -line.figures.placed, line.words))
    return Report(chosen, by, len(rows), lines, totals_of(now.values()), totals_of(before.values()), kept)


def _with_sales(figures: Mapping[Any, Figures]) -> dict[Any, Figures]:
    return {key: own for key, own in figures.items() if own.sales}


def _brands(keys: Iterable[Any]) -> dict[Any, tuple[str, str]]:
    return {key: (key, key) for key in keys}


def _categories(keys: Iterable[Any]) -> dict[Any, tuple[str, str]]:
    rows = Category.objects.filter(code__in=keys).values_list("code", "name")
    return {code: (code, name) for code, name in rows}


def _products(keys: Iterable[Any]) -> dict[Any, tuple[str, str]]:
    rows = Product.objects.filter(pk__in=keys).values_list("pk", "code", "name")
    return {pk: (code, name) for pk, code, name in rows}


def _people(keys: Iterable[Any]) -> dict[Any, tuple[str, str]]:
    people = User.objects.in_bulk([key for key in keys if key])
    return {None: ("", _("Without a person"))} | {
        pk: (person.username, person.shown_name) for pk, person in people.items()
    }


def _methods(keys: Iterable[Any]) -> dict[Any, tuple[str, str]]:
    return {key: (key, method_words(key)) for key in keys}


def _branches(keys: Iterable[Any]) -> dict[Any, tuple[str, str]]:
    names = {pk: branch.name for pk, branch in all_branches().items()}
    return {key: (str(key), names.get(key, str(key))) for key in keys}


def _customers(keys: Iterable[Any]) -> dict[Any, tuple[str, str]]:
    erased: dict[Any, tuple[str, str]] = {key: ("", _("A customer who was erased")) for key in keys}
    rows = Customer.objects.filter(pk__in=[key for key in keys if key]).values_list("pk", "name")
    return erased | {None: ("", _("Nobody of the saved customers"))} | {pk: (str(pk), name) for pk, name in rows}


# For the keys of figures: what an address and a file name, and the words.
_WORDS: Mapping[str, Callable[[Iterable[Any]], dict[Any, tuple[str, str]]]] = {
    "brand": _brands,
    "category": _categories,
    "product": _products,
    "person": _people,
    "method": _methods,
    "branch": _branches,
    "customer": _customers,
}
