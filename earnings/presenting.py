"""Figures as the pages show them: tiles with the change since the period before, and rows with bars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from babel.numbers import format_decimal, format_percent
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from branches.seeing import names_branches, narrowed, own_branch
from branches.services import all_branches
from catalogue.models import Category, Product
from core.money import rupiah
from core.rights import Right
from core.times import active_locale
from credit.methods import method_words
from customers.models import Customer
from earnings.periods import NAMES, Chosen
from earnings.services import (
    Figures,
    Most,
    Others,
    Period,
    by_customer,
    figures_by,
    figures_drawn,
    kept_days,
    totals_of,
)
from purchases.filters import NOBODY
from staff.models import User

#: The splits of the figures, as the tabs of the page.
BY: dict[str, str | Promise] = {
    "brand": gettext_lazy("Brand"),
    "product": gettext_lazy("Product"),
    "person": gettext_lazy("Cashier"),
    "customer": gettext_lazy("Customer"),
    "method": gettext_lazy("Payment"),
    "branch": gettext_lazy("Branch"),
    "category": gettext_lazy("Category"),
}


def keys_shown(person: User) -> dict[str, str | Promise]:
    """The keys of `BY` for this person: customers only if they see full numbers, branches only if there are several."""
    sees_customers = person.has_perms((Right.VIEW_CUSTOMERS, Right.VIEW_NUMBERS))
    shown = {"branch": names_branches(), "customer": sees_customers}
    return {key: words for key, words in BY.items() if shown.get(key, True)}


# The number of lines with only failed orders that a page names.
_FAILED_NAMED = 3
# The filter of the list of orders that opens the orders of a row.
_FILTERS = {
    "brand": "brand",
    "category": "category",
    "product": "product",
    "person": "cashier",
    "method": "payment",
    "branch": "branch",
    "customer": "buyer",
}
_MINUTE = 60
_MOST_OF_ALL = 0.999  # the largest share that is not shown as all


def percent(share: float | None) -> str:
    """A share as text with at most one decimal, less than 100% if it is less than 1; a dash if it is not known."""
    if share is None:
        return "–"
    return format_percent(min(share, _MOST_OF_ALL) if share < 1 else share, "#,##0.#%", locale=active_locale())


def _one_decimal(number: float) -> str:
    return format_decimal(number, "#,##0.#", locale=active_locale())


def seconds_words(seconds: int | None) -> str:
    """A duration in words: "8 s", "3 min"; a dash if it is not known."""
    if seconds is None:
        return "–"
    if seconds < 2 * _MINUTE:
        return _("%(n)s s") % {"n": seconds}
    return _("%(n)s min") % {"n": seconds // _MINUTE}


@dataclass(frozen=True)
class Change:
    """The change of a figure from the period before."""

    words: str
    is_up: bool

    @classmethod
    def between(cls, now: float | None, before: float | None, *, by_share: bool = True) -> Change | None:
        """The change in percent, or in percentage points of two shares; None without a period before or a change."""
        if now is None or before is None or now == before or (by_share and before <= 0):
            return None
        difference = (now - before) / before if by_share else now - before
        words = percent(abs(difference)) if by_share else _("%(n)s points") % {"n": _one_decimal(abs(difference) * 100)}
        return cls(words=words, is_up=difference > 0)


@dataclass(frozen=True)
class Tile:
    """One figure of a period. `name` is for scripts and tests; `value`: the plain number; `run`: its line, for SVG.

    `before`: the figure of the time before; empty without sales in that time.
    """

    name: str
    words: str
    shown: str
    value: float | None
    before: str
    change: Change | None
    run: str = ""


def tiles_of(now: Figures, before: Figures, *, with_cost: bool, steps: Sequence[Figures] = ()) -> list[Tile]:
    """The figures of a period against the one before. `steps`: those of its hours or days, for the tiles' lines."""
    runs = {name: _run([getattr(figures, name) for figures in steps]) for name in ("sales", "profit", "sold", "share")}
    return [replace(tile, run=runs[tile.name]) for tile in _tiles(now, before, with_cost=with_cost)]


def _run(values: Sequence[float | None]) -> str:
    """The path of the values in a drawing of 100 by 24; empty for fewer than two values, and if all are 0."""
    points, height = [], max((value for value in values if value is not None), default=0)
    for number, value in enumerate(values):
        if value is not None and height > 0:
            points.append(f"{100 * number / (len(values) - 1 or 1):.1f},{23 - 22 * max(value, 0) / height:.1f}")
    return "M" + " L".join(points) if len(points) > 1 else ""


def _tiles(now: Figures, before: Figures, *, with_cost: bool) -> list[Tile]:
    def money(name: str, words: str, amount: int, earlier: int) -> Tile:
        before_words = rupiah(earlier) if before.sold else ""
        return Tile(name, words, rupiah(amount), amount, before_words, Change.between(amount, earlier))

    tiles = [money("sales", _("Sales"), now.sales, before.sales)]
    if with_cost:
        tiles.append(money("profit", _("Profit"), now.profit, before.profit))
    sold_before = f"{before.sold:n}" if before.sold else ""
    tiles.append(Tile("sold", _("Sold"), f"{now.sold:n}", now.sold, sold_before, Change.between(now.sold, before.sold)))
    share_before = "" if before.share is None else percent(before.share)
    change = Change.between(now.share, before.share, by_share=False)
    tiles.append(Tile("share", _("Went through"), percent(now.share), now.share, share_before, change))
    return tiles


@dataclass(frozen=True)
class Line:
    """The figures of one brand, product, person or method. `bar`: the length of its bar, 0 to 100.

    `is_nobody`: the line of sales without a person, or without a saved customer. `page`: the page of a person's work in
    these days, for a reader who may open it.
    """

    chosen: Chosen
    by: str
    key: str
    words: str
    figures: Figures
    before: Figures
    bar: int
    is_nobody: bool
    page: str = ""

    @property
    def url(self) -> str:
        """A person's page, or the orders."""
        return self.page or self.orders

    @property
    def orders(self) -> str:
        """The list of the line's orders; a customer's own page; empty for erased customers and for commands."""
        is_customer = self.by == "customer" and not self.is_nobody and self.key
        return reverse("customer_detail", args=[self.key]) if is_customer else self.listed

    @property
    def listed(self) -> str:
        """The list of exactly its orders, to which a status can be added; empty if no filter finds them."""
        key = NOBODY if self.by == "customer" and self.is_nobody else self.key
        return f"{reverse('order_list')}?{self.chosen.query}&{urlencode({_FILTERS[self.by]: key})}" if key else ""

    @property
    def share(self) -> str:
        """The share that went through."""
        return percent(self.figures.share)

    @property
    def usual(self) -> str:
        """The average time of an order."""
        return seconds_words(self.figures.usual_seconds)

    @property
    def change(self) -> Change | None:
        """The change of the sales; None for a line that has sold nothing yet."""
        return Change.between(self.figures.sales, self.before.sales) if self.figures.sold else None


@dataclass(frozen=True)
class Report:
    """A period by one key, the most sales first, lines without present sales last; with the sums of all.

    `count`: the number of lines; `lines` may be only the first. `others`: the figures of the rest, of which
    `others_sold` lines have sales. `only_failed`: the figures of lines without a sale and with failed orders, which are
    in neither, so that sold lines, the others and these add up to `now`; `failed_lines`: a few of these, `failed_more`:
    the number of the rest. `steps`: the figures of both periods by day, or only of this period by hour, if they were
    asked for.
    """

    chosen: Chosen
    by: str
    count: int
    lines: list[Line]
    others: Figures
    others_sold: int
    only_failed: Figures
    failed_lines: list[Line]
    failed_more: int
    now: Figures
    before: Figures
    steps: Sequence[Mapping[Any, Figures]]

    @property
    def sold_lines(self) -> list[Line]:
        """The lines with sales; for branches all lines, so that a branch without sales is shown."""
        return [line for line in self.lines if line.figures.sold or self.by == "branch"]

    @property
    def sold_count(self) -> int:
        """The number of lines with sales."""
        return len(self.sold_lines) + self.others_sold

    @property
    def idle_lines(self) -> list[Line]:
        """The other lines: those that have only failed, or sold only in the time before."""
        return [line for line in self.lines if not line.figures.sold and self.by != "branch"]


def report_of(
    chosen: Chosen, by: str, *, step: str = "", most: int | None = None, spare: int = 0, reader: User | None = None
) -> Report:
    """The figures of the period by `by`, and of the period before; with at most `most` lines.

    `spare`: how many more lines are shown if these are the last with sales. `step`: "hour" or "day", for the figures by
    it (`Report.steps`). `reader`: the person for whom lines open pages of people.
    """
    now, before, steps = _figures_of(chosen, by, step, most and max(most + spare, _FAILED_NAMED))
    all_now, all_before = totals_of(now.values()), totals_of(before.values())
    unnamed = {key: now.pop(key) for key in [*now] if isinstance(key, Others)}
    none = Figures()
    keys = [*now, *(key for key in _with_sales(before) if key not in now and not isinstance(key, Others))]
    rows = {key: (now.get(key, none), before.get(key, none)) for key in keys}
    if by == "branch" and rows and own_branch() is None:  # a branch that sells nothing is shown, too
        rows |= {key: (Figures(), Figures()) for key in all_branches() if key not in rows}
    # Only the names of shown lines are read: a day has hundreds of customers.
    ordered = sorted(rows, key=lambda key: (-rows[key][0].sales, -rows[key][0].placed))
    failed = [key for key in ordered if by != "branch" and rows[key][0].has_only_failed]
    if most and most < len(ordered):
        shown = sum(1 for key in ordered if by == "branch" or rows[key][0].sold)
        shown += sum(key.number for key in unnamed if key.has_sold)
        most = shown if most < shown <= most + spare else most
    others = now.keys() - set(failed)
    rest = [rows[key][0] for key in ordered[most:] if key in others] if most else []
    rest_sold = sum(1 for figures in rest if figures.sold) + sum(key.number for key in unnamed if key.has_sold)
    rest += [figures for key, figures in unnamed.items() if not key.has_only_failed]
    ordered = ordered[:most]
    words = _WORDS[by]([*ordered, *failed[:_FAILED_NAMED]])
    pages = _pages(chosen, ordered, reader) if by == "person" and reader else {}
    largest = rows[ordered[0]][0].sales if ordered else 0

    def line_of(key: Any) -> Line:
        bar = round(100 * rows[key][0].sales / (largest or 1))
        page = pages.get(key, "")
        return Line(chosen, by, *words[key], *rows[key], bar=bar, is_nobody=key is None, page=page)

    lines = [line_of(key) for key in ordered]
    lines.sort(key=lambda line: (-line.figures.sales, -line.figures.placed, line.words))
    # A customer without a name in the earlier days may have none in these: then counted twice, if these have sales.
    uncounted = unnamed or _with_sales(before)
    return Report(
        chosen,
        by,
        len(rows) + sum(key.number for key in uncounted if isinstance(key, Others)),
        lines,
        totals_of(rest),
        rest_sold,
        totals_of([rows[key][0] for key in failed] + [unnamed[key] for key in unnamed if key.has_only_failed]),
        [line_of(key) for key in failed[:_FAILED_NAMED]],
        len(failed[_FAILED_NAMED:]) + sum(key.number for key in unnamed if key.has_only_failed),
        all_now,
        all_before,
        steps,
    )


def _figures_of(
    chosen: Chosen, by: str, step: str, most: int | None
) -> tuple[dict[Any, Figures], dict[Any, Figures], list[Mapping[Any, Figures]]]:
    """The figures by `by` of the period and of the one before, and those by `step`.

    With `most`, customers below the first ones of either period are together (`Others`).
    """
    kept = kept_days(Period.around(chosen.period, chosen.before))
    key, named = "buyer" if by == "customer" else by, Most(most) if most else None
    figures: list[dict[Any, Figures]] = []
    steps: list[Mapping[Any, Figures]] = []
    for period in (chosen.period, chosen.before):
        if step == "day" or (step and not steps):
            of_key, of_step = figures_drawn(key, step, period, kept, named)
            steps.append(of_step)
        else:
            of_key = figures_by(key, period, kept, named)
        figures.append(of_key)
        if named:  # figures of the period before are beside them, and more of its lines only if these are not enough
            number = 0 if any(isinstance(key, Others) and key.has_sold for key in of_key) else named.number
            named = Most(number, frozenset(key for key in of_key if not isinstance(key, Others)))
    now, before = by_customer(*figures) if by == "customer" else figures
    return now, before, steps


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


def _pages(chosen: Chosen, keys: Iterable[Any], reader: User) -> dict[Any, str]:
    """The pages of people that this reader may open, with the same days; none if they would show other figures."""
    if chosen.name not in NAMES or chosen.branch is not None or not reader.has_perm(Right.MANAGE_STAFF):
        return {}
    people = narrowed(User.objects.filter(pk__in=[key for key in keys if key]))
    return {person.pk: f"{person.get_absolute_url()}?days={chosen.name}" for person in people}


def _methods(keys: Iterable[Any]) -> dict[Any, tuple[str, str]]:
    return {key: (key, method_words(key)) for key in keys}


def _branches(keys: Iterable[Any]) -> dict[Any, tuple[str, str]]:
    names = {pk: branch.name for pk, branch in all_branches().items()}
    return {key: (str(key), names.get(key, str(key))) for key in keys}


def _customers(keys: Iterable[Any]) -> dict[Any, tuple[str, str]]:
    erased: dict[Any, tuple[str, str]] = {key: ("", _("A customer who was erased")) for key in keys}
    rows = Customer.objects.filter(pk__in=[key for key in keys if key]).values_list("pk", "name")
    return erased | {None: ("", _("Nobody of the saved customers"))} | {pk: (str(pk), name) for pk, name in rows}


# For the keys of figures: their codes in addresses and files, and their words.
_WORDS: Mapping[str, Callable[[Iterable[Any]], dict[Any, tuple[str, str]]]] = {
    "brand": _brands,
    "category": _categories,
    "product": _products,
    "person": _people,
    "method": _methods,
    "branch": _branches,
    "customer": _customers,
}
