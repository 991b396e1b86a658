"""The text that a person typed into "find anything", as the kinds read it."""

from dataclasses import dataclass
from functools import cached_property

from django.http import QueryDict
from django.utils import timezone

from core.notation import as_if_typed, bare
from core.numbers import sees_whole_numbers
from core.rights import Right
from core.search import MOST_CLOSELY
from counter.services import Typed
from customers.models import LEAST_END
from purchases.filters import OrderFilter
from purchases.lists import orders_seen
from purchases.looking import Looked, look
from purchases.models import Order
from purchases.models.finding import end_of_ref_id
from purchases.reading import AMOUNTS, Names, read_line
from staff.models import User

_LONGEST, _LEAST_OF_NAME = 100, 2
_DAYS = frozenset({"days", "since", "until"})


@dataclass(frozen=True)
class Line:
    """A text that the list of orders reads as filters: the filters, the searched words, and the result."""

    filtered: OrderFilter
    rest: str
    looked: Looked

    @property
    def words(self) -> str:
        """The filters as people read them."""
        filtered = self.filtered
        # The 30 days of a limited search are named only if there are older orders.
        days = filtered.days_in_words() if filtered.all_days or not filtered.is_limited else ""
        rest = f"“{self.rest}”" if self.rest else ""
        return " · ".join(
            filter(None, [days, *(chip.words for chip in filtered.chips() if chip.name not in _DAYS), rest])
        )


class Asked:
    """The text, and the person who asks. `most`: the most results of a kind.

    `number`: the text's complete number as it would be stored, "" without one. `by_part`: the last digits of a number
    find it; not for people who may not see it and could try digit after digit.
    """

    def __init__(self, text: str, person: User, most: int) -> None:
        self.text = " ".join(as_if_typed(text).replace("\x00", "").split())[:_LONGEST]
        self.person, self.most = person, most
        typed = Typed.read(self.text)
        self.number, self.shown_number, self.is_phone = typed.bare, typed.shown, typed.is_phone
        # Words after a number narrow its products; only the number is searched.
        self.name = typed.number if typed.words and typed.bare else self.text
        self.by_part = sees_whole_numbers()
        self._shown: dict[int, Order] = {}

    @property
    def may_name_a_row(self) -> bool:
        """Whether it may name an order or a bill: it is long enough, and not only filters of a line, such as days."""
        if self.line and not self.line.rest and any(map(str.isalpha, self.text)):
            return False
        return sum(letter.isalnum() for letter in self.name) >= LEAST_END

    @property
    def may_name_in_part(self) -> bool:
        """Whether it may be a part of a person's or a drawer's name; one letter begins too many of them."""
        return not self.number and sum(letter.isalnum() for letter in self.text) >= _LEAST_OF_NAME

    @cached_property
    def of_line(self) -> dict[str, str]:
        """The filters of orders in the text, such as days.

        Names of people and brands are left out, because each letter would read them from the database.
        """
        return read_line(self.text, Names(), today=timezone.localdate(), with_endings=self.by_part)[0]

    @property
    def may_be_end(self) -> bool:
        """Whether it may be the last digits of a number: only digits, or digits after a word such as "akhiran 7391"."""
        return len(bare(self.text) if bare(self.text).isdecimal() else self.of_line.get("ends", "")) >= LEAST_END

    @property
    def names_days(self) -> bool:
        """Whether it names days: then the person asks about an earlier sale, not a new one."""
        return not self.of_line.keys().isdisjoint(_DAYS)

    @cached_property
    def line(self) -> Line | None:
        """The orders of a text with days or an amount, for people who see orders; None for every other text.

        Only this reads the names of people and brands.
        """
        if self.of_line.keys().isdisjoint({*_DAYS, *AMOUNTS}) or not self.person.has_perm(Right.VIEW_ORDERS):
            return None
        every = OrderFilter(QueryDict(), person=self.person, queryset=orders_seen())
        understood, rest = every.read(self.text)
        filtered = every.of(understood)
        # Fewer letters name too many orders.
        is_looked_for = not rest or sum(letter.isalnum() for letter in rest) >= LEAST_END
        return Line(filtered, rest, look(filtered, rest) if is_looked_for else Looked([], is_whole=False))

    @cached_property
    def orders(self) -> list[int]:
        """The keys of the newest orders that it names; orders with this trx_id, SN or end of the ref_id come first."""
        if not (self.may_name_a_row and self.person.has_perm(Right.VIEW_ORDERS)):
            return []
        matches = orders_seen().matching(self.name, by_part=self.by_part, closely=True).order_by("-created_at", "-pk")
        rows = list(matches.values_list("pk", "ref_id", "trx_id", "sn")[:MOST_CLOSELY])
        # `sorted` keeps the newest first within each.
        return [key for key, *_names in sorted(rows, key=lambda row: not self._names(*row[1:]))]

    @cached_property
    def newest_orders(self) -> list[Order]:
        """The first of these orders, with everything that a line shows."""
        return self.shown(self.orders)

    def shown(self, keys: list[int]) -> list[Order]:
        """The first orders of these keys, with everything that a line shows; read once for several kinds."""
        first = keys[: self.most]
        self._shown |= Order.objects.for_table().in_bulk([key for key in first if key not in self._shown])
        return [self._shown[key] for key in first]

    @cached_property
    def named_order(self) -> Order | None:
        """The order whose ref_id, trx_id or SN this is, or the ref_id's end; not for a number that the SN repeats."""
        first = self.newest_orders[0] if self.orders else None
        is_named = first and self._names(first.ref_id, first.trx_id, first.sn) and first.destination != self.number
        return first if is_named else None

    def _is_one_of(self, *names: str) -> bool:
        """Whether it is one of these whole names; for an SN, the part before its first "/" is enough."""
        typed = bare(self.name).casefold()
        return any(typed in {bare(name).casefold(), bare(name.partition("/")[0]).casefold()} for name in names if name)

    def _names(self, ref_id: str, *others: str) -> bool:
        """Whether it is one of an order's whole names, or the end of its ref_id."""
        end = end_of_ref_id(self.name)
        return bool(end and ref_id.endswith(end)) or self._is_one_of(ref_id, *others)
