"""The bank beside the books, for a page and a file."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from bank.models import BankFile, BankRow, State
from bank.services.items import CREDIT, GIVEN, SALE, TOPUP, Item, OpenSum, open_items, open_sums, sums_by_day
from bank.services.matching import MOST_APART, is_fee
from bank.services.reach import days_read, reached_days
from core.money import rupiah
from core.rights import Right
from core.times import day_words, days_from, days_words, hour
from credit.methods import bank_methods, method_words
from credit.models import CreditEntry
from purchases.models import Order

#: All that the page shows.
RIGHTS = (Right.VIEW_ORDERS, Right.VIEW_SHIFTS, Right.VIEW_STATEMENT, Right.VIEW_CREDIT)
MISSING = "missing"
#: Entries that no statement has yet: their days lie outside the days that were read.
BEYOND = "beyond"
#: The parts of the page, in this order: missing money comes first.
SHOWS: dict[str, str | Promise] = {
    MISSING: _("Missing: only in the books"),
    State.UNKNOWN: _("Unknown: only at the bank"),
    State.MATCHED: State.MATCHED.label,
    State.ASIDE: State.ASIDE.label,
}
_ONE_DAY = dt.timedelta(days=1)
_KINDS = {SALE: _("Sale"), GIVEN: _("Given back"), CREDIT: _("Credit payment"), TOPUP: _("Top-up")}


@dataclass(frozen=True)
class Line:
    """A row of the bank with its matched item; or, without `row`, an item that is missing at the bank."""

    row: BankRow | None
    key: str = ""
    item_day: dt.date | None = None
    item_amount: int | None = None
    item_url: str = ""
    #: If it is an order: its product, time and way to pay.
    item_more: str = ""
    #: Without `row`: whether it is missing, or `BEYOND` the statements.
    part: str = MISSING

    @property
    def state(self) -> str:
        """One of `SHOWS`, or `BEYOND`."""
        return self.row.state if self.row else self.part

    @property
    def badge(self) -> SafeString:
        """The state of its row, for a page."""
        return State(self.state).badge

    @property
    def amount(self) -> int:
        """Rupiah of the bank's row, else the rupiah that are missing at the bank."""
        return self.row.amount if self.row else self.item_amount or 0

    @property
    def item_words(self) -> str:
        """The words of its item in the books; empty for an unknown row."""
        return words_of(self.key)

    @property
    def is_other_day(self) -> bool:
        """Whether the books have it on another day than the bank, and its words do not say which."""
        return self.row is not None and self.item_day not in {None, self.row.day} and f"{self.item_day}" not in self.key

    @property
    def less(self) -> int:
        """Rupiah that the bank has less than the books; negative if the bank has more."""
        return self.item_amount - self.row.amount if self.row and self.item_amount is not None else 0

    @property
    def fee(self) -> int:
        """Rupiah that the provider kept of a day's sum, within the account's bound; 0 for any other difference."""
        if self.row is None or self.item_amount is None or self.key.partition(":")[0] in _KINDS:
            return 0
        return self.less if is_fee(self.less, of=self.item_amount, most=self.row.account.most_fee) else 0

    @property
    def difference_words(self) -> str:
        """The words for how much less or more the bank has, or for a fee; empty when both have the same."""
        return _("Fee %(amount)s") % {"amount": rupiah(self.fee)} if self.fee else _less_words(self.less)


def _less_words(less: int) -> str:
    """The words for how much less or more the bank has than the books; empty when both have the same."""
    if not less:
        return ""
    words = _("%(amount)s less at the bank") if less > 0 else _("%(amount)s more at the bank")
    return words % {"amount": rupiah(abs(less))}


@dataclass(frozen=True)
class Part:
    """One of `SHOWS` in some days: the number of its lines, and the sums that came and that left, in rupiah.

    A matched row counts with the day and the amount of the books; `less`: rupiah that the bank has less. `reached`: the
    days that a statement has; None before the first statement was read. `others`: unmatched items that are neither
    sales nor refunds.
    """

    name: str
    words: str | Promise
    days: tuple[dt.date, dt.date]
    reached: set[dt.date] | None
    others: list[Item]
    count: int = 0
    came: int = 0
    left: int = 0
    less: int = 0

    @property
    def difference_words(self) -> str:
        """The words for how much less or more the bank has in matched rows."""
        return _less_words(self.less)

    def lines(self, most: int | None = None) -> list[Line]:
        """Its lines, the earliest first; at most `most`."""
        if self.name in {MISSING, BEYOND}:
            items = [] if self.reached is None else self._open_items(self.reached, most)
            return [Line(None, item.key, item.day, item.amount, part=self.name) for item in items[:most]]
        rows = _rows_of(*self.days).filter(state=self.name).select_related("account", "decided_by")
        rows = rows.order_by("day", "pk")[:most]
        return [Line(row, row.item or "", row.item_day, row.item_amount) for row in rows]

    def _open_items(self, reached: set[dt.date], most: int | None) -> list[Item]:
        """The items that statements of these days should have and lack; for `BEYOND`, the items of other days."""
        is_missing = self.name == MISSING
        others = [item for item in self.others if item.is_reached(reached) is is_missing]
        days = [day for day in days_from(*self.days) if (day in reached) is is_missing]
        return sorted([*open_items(days, most), *others], key=lambda item: (item.day, item.key))


@dataclass
class Expected:
    """The rupiah that the books expect at the bank by one way to pay: those that come and those that leave."""

    words: str
    came: int = 0
    left: int = 0


@dataclass(frozen=True)
class Statement:
    """The bank in some days. `reaches`: the spans that were read, by account; `beyond`: the entries outside of them.

    `reaches` has the spans that touch these days, or else the latest one. `opened`: the sums of unmatched items, by
    day. `unknown`: the rupiah that came in unknown rows, by day. `less`: the rupiah that came less in matched rows than
    the books have, by day; rows with more are not subtracted. `expected`: the sums that the books expect in these days,
    by way to pay; only until the first statement is read.
    """

    parts: list[Part]
    reaches: dict[str, list[tuple[dt.date, dt.date]]]
    beyond: Part
    opened: list[OpenSum]
    unknown: dict[dt.date, int]
    less: dict[dt.date, int]
    expected: dict[str, Expected]

    @property
    def reach_words(self) -> str:
        """The words for the days that were read; for several accounts, the days of each."""
        days = {
            account: ", ".join(days_words(first.isoformat(), last.isoformat()) for first, last in spans)
            for account, spans in self.reaches.items()
        }
        return " · ".join(f"{account} {words}" if len(days) > 1 else words for account, words in days.items())

    def part(self, name: str) -> Part:
        """The part with this name."""
        return next(part for part in [*self.parts, self.beyond] if part.name == name)

    def parts_shown(self, name: str, *, together: int) -> list[Part]:
        """The part with this name. Without one: the missing entries, and all parts that have lines if these are at most
        `together` lines, else the first such part.
        """
        for part in [*self.parts, self.beyond]:
            if part.name == name:
                return [part]
        missing, *others = self.parts
        with_lines = [part for part in others if part.count] or [self.beyond] * bool(self.beyond.count)
        if sum(part.count for part in self.parts) <= together:
            return [missing, *with_lines]
        return [missing, *([] if missing.count else with_lines[:1])]

    @property
    def is_reached(self) -> bool:
        """Whether a statement has any of these days."""
        missing = self.part(MISSING)
        return not (missing.reached or set()).isdisjoint(days_from(*missing.days))

    @property
    def no_missing_words(self) -> str | Promise:
        """The words if nothing is missing."""
        if not self.is_reached:
            if len(self.reaches) > 1:
                return _("Not every account's statement has these days yet")
            return _("None of these days is in a statement yet")
        return _("Nothing is missing on the days that were read") if self.beyond.count else _("Nothing is missing")


def statement_of(first: dt.date, last: dt.date) -> Statement:
    """The matched, missing and unknown rows of these days: the sums are read now, the lines of a part later."""
    rows = _rows_of(first, last).annotate(in_books=Coalesce("item_amount", "amount")).order_by()
    came, left = (Sum("in_books", filter=Q(**{f"in_books__{sign}": 0}), default=0) for sign in ("gt", "lt"))
    less = F("in_books") - F("amount")
    lacks = Sum(less, filter=Q(amount__lt=F("in_books"), in_books__gt=0), default=0)
    totals = rows.values_list("state", Coalesce("item_day", "day")).annotate(
        Count("pk"), came=came, left=left, less=Sum(less), lacks=lacks
    )
    sums: dict[str, tuple[int, int, int, int]] = {}
    unknown: dict[dt.date, int] = {}
    came_less: dict[dt.date, int] = {}
    for state, day, n, came_in, went_out, differs, lacking in totals:
        before = sums.get(state, (0, 0, 0, 0))
        sums[state] = before[0] + n, before[1] + came_in, before[2] - went_out, before[3] + differs
        came_less[day] = came_less.get(day, 0) + lacking
        if state == State.UNKNOWN and came_in:
            unknown[day] = came_in
    read = days_read()
    reached = reached_days(read, first, last + _ONE_DAY)
    opened, others = open_sums(first, last, reached) if read else ([], [])
    for name, is_reached in ((MISSING, True), (BEYOND, False)):
        days = [day for day in opened if day.is_reached is is_reached]
        sums[name] = sum(day.number for day in days), sum(day.came for day in days), sum(day.left for day in days), 0
    *parts, beyond = [
        Part(name, words, (first, last), reached if read else None, others, *sums.get(name, ()))
        for name, words in {**SHOWS, BEYOND: _("Not yet in a statement")}.items()
    ]
    reaches = {
        account: [span for span in spans if span[0] <= last and first <= span[1]] or spans[-1:]
        for account, spans in read.items()
    }
    return Statement(parts, reaches, beyond, opened, unknown, came_less, {} if read else _expected(first, last))


def may_still_come(statement: Statement) -> int:
    """The missing rupiah of days that were not over when their file was read: the alert does not count them."""
    missing = statement.part(MISSING)
    if not missing.came:
        return 0
    first, last = missing.days
    over = reached_days(days_read(until_over=True), first, last + _ONE_DAY)
    return sum(day.came for day in statement.opened if day.is_reached and not day.is_reached_by(over))


def _rows_of(first: dt.date, last: dt.date) -> QuerySet[BankRow]:
    """The rows of these days: a matched row by the day of its entry in the books, any other by the bank's day."""
    around = first - MOST_APART, last + MOST_APART
    return BankRow.objects.filter(
        Q(item_day__range=(first, last), day__range=around) | Q(item_day=None, day__range=(first, last))
    )


def _expected(first: dt.date, last: dt.date) -> dict[str, Expected]:
    """The sums of these days by way to pay, in the order of the table of methods; top-ups last."""
    ways = {method.code: Expected(str(method.words)) for method in bank_methods()}
    ways[""] = Expected(str(_KINDS[TOPUP]))
    for (_day, method), (came, left) in sums_by_day(first, last).items():
        ways[method].came += came
        ways[method].left += left
    return {code: way for code, way in ways.items() if way.came or way.left}


def last_read(most: int) -> list[tuple[BankFile, str]]:
    """The files that were read last, at most `most`, each with the names and days of others that may have its rows."""
    files = BankFile.objects.with_counts().with_others(most).select_related("account", "read_by")
    last: Iterable[Any] = files.order_by("-pk")[:most]
    return [(file, ", ".join(map(_file_words, file.others))) for file in last]


def _file_words(file: dict[str, str]) -> str:
    return f"{file['name']} ({days_words(file['first'], file['last'])})"


def words_of(key: str) -> str:
    """The words of an item: its kind, with the ref_id of an order; or the method of a day."""
    kind, _colon, what = key.partition(":")
    if kind in {SALE, GIVEN}:
        return f"{_KINDS[kind]} {what}"
    return str(_KINDS[kind]) if kind in _KINDS else f"{method_words(kind)}, {day_words(what)}" if what else ""


def with_links(lines: Sequence[Line]) -> list[Line]:
    """The same lines, each with the page of its item in the books; an order also with its words."""
    keys = [_what(line.key) for line in lines if line.key.startswith(f"{CREDIT}:")]
    entries = CreditEntry.objects.filter(pk__in=keys).values_list("pk", "account__customer") if keys else []
    customers: dict[str, int | None] = {f"{pk}": customer for pk, customer in entries}
    orders = _orders_in_words([_what(line.key) for line in lines if line.key.startswith((f"{SALE}:", f"{GIVEN}:"))])
    return [
        replace(line, item_url=_url_of(line.key, customers), item_more=orders.get(_what(line.key), ""))
        for line in lines
    ]


def _what(key: str) -> str:
    return key.partition(":")[2]


def _orders_in_words(ref_ids: Sequence[str]) -> dict[str, str]:
    """Product, time and way to pay of these orders, by their ref_ids."""
    rows = Order.objects.filter(ref_id__in=ref_ids).values_list(
        "ref_id", "product_name", "created_at", "payment__method"
    )
    return {ref_id: " · ".join((name, hour(at), method_words(method))) for ref_id, name, at, method in rows}


def _url_of(key: str, customers: dict[str, int | None]) -> str:
    kind, _colon, what = key.partition(":")
    if kind in {SALE, GIVEN}:
        return reverse("order_detail", args=[what])
    if kind == CREDIT:
        customer = customers.get(what)
        return reverse("credit_account", args=[customer]) if customer else ""
    if kind == TOPUP:
        return reverse("balance")
    return orders_by(kind, what, what) if what else ""


def orders_by(method: str, first: dt.date | str, last: dt.date | str, branch: int | None = None) -> str:
    """The address of the list of these days' orders that were paid by this method."""
    address = f"{reverse('order_list')}?since={first}&until={last}&payment={method}"
    return address if branch is None else f"{address}&branch={branch}"
