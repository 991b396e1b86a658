"""Customers and their numbers as lists."""

from collections.abc import Iterable
from operator import attrgetter
from typing import Any, ClassVar

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _, npgettext

from core.money import rupiah
from core.notation import bare
from core.numbers import masked, masked_note, note_as_seen
from core.rights import Right
from core.tables import Table, cell_from, column, row_link
from core.times import moment
from customers.models import Customer, SavedNumber
from customers.presenting import as_query, shown_number
from customers.services import Planned
from staff.models import User


class CustomerTable(Table[Customer]):
    """Customers `with_counts()`; a file reads them `for_file()`."""

    caption = _("Customers by name")
    export: ClassVar[dict[str, Any]] = {
        "name": attrgetter("name"),
        "note": lambda customer: masked_note(customer.note),
        "numbers": lambda customer: " ".join(map(masked, customer.own_numbers)),
        "bill_numbers": attrgetter("bills"),
        "saved": attrgetter("created_at"),
        "debt": attrgetter("debt"),
    }
    export_whole: ClassVar = export | {
        "note": attrgetter("note"),
        "numbers": lambda customer: " ".join(customer.own_numbers),
    }
    export_words: ClassVar[dict[str, Any]] = {}

    @column(_("Name"), phone="1 left", fields=("name",), stays=True)
    def name(self, customer: Customer) -> SafeString:
        """The name, which leads to the customer's page."""
        return row_link(customer.get_absolute_url(), customer.name)

    @column(_("Note"), css="sub", phone="2 wide", fields=("note",))
    def note(self, customer: Customer) -> str:
        return note_as_seen(customer.note)

    @column(_("Numbers"), css="num", phone="1 right", fields=("numbers",))
    def count(self, customer: Customer) -> SafeString:
        n = customer.count  # type: ignore[attr-defined]
        return format_html('{}<span class="phone-label"> {}</span>', n, npgettext("saved", "number", "numbers", n))

    @column(_("Of these, for bills"), css="num", phone="none", fields=("bill_numbers",))
    def bills(self, customer: Customer) -> int:
        """The number of them at a biller."""
        return int(customer.bills)  # type: ignore[attr-defined]

    @column(_("Tab"), css="num", phone="3 wide", fields=("debt",), right=Right.VIEW_CREDIT)
    def debt(self, customer: Customer) -> SafeString | str:
        """Rupiah that the customer owes; below zero the shop owes."""
        amount = customer.debt  # type: ignore[attr-defined]
        if not amount:
            return ""
        return format_html('<span class="phone-label">{} </span>{}', _("Tab"), rupiah(amount))

    @column(_("Saved"), phone="none", fields=("saved",), is_extra=True)
    def saved(self, customer: Customer) -> SafeString:
        return moment(customer.created_at)


class NumberTable(Table[SavedNumber]):
    """A customer's numbers, with what `user` may do with each."""

    caption = _("Numbers")

    def __init__(self, numbers: Iterable[SavedNumber], *, user: User) -> None:
        super().__init__(numbers)
        self.user = user
        self.before = ""

    @column(_("Number"), css="strong nowrap")
    def number(self, number: SavedNumber) -> SafeString | str:
        """The number, grouped for reading aloud; shown once if the next row has the same number for another product."""
        before, self.before = self.before, number.destination
        shown = shown_number(number)
        return format_html('<span class="visually-hidden">{}</span>', shown) if before == number.destination else shown

    @column(_("For"))
    def what(self, number: SavedNumber) -> str:
        """The product or biller, or any product of a kind."""
        if number.product is None:
            return str(number.kind.name)
        more = cell_from("customers/number_more.html", number=number, user=self.user)
        name, category = number.product.name, number.product.category.name
        beside = "" if category == name else format_html(' <span class="sub">{}</span>', category)
        return format_html("{}{}{}", name, beside, more)

    @column(_("Note"), css="sub")
    def note(self, number: SavedNumber) -> str:
        return note_as_seen(number.note)

    @column(_("Actions"), css="untitled")
    def actions(self, number: SavedNumber) -> SafeString:
        """Check its bill, buy for it, edit it."""
        facts = {"number": number, "shown": shown_number(number), "query": as_query(number), "user": self.user}
        return cell_from("customers/number_actions.html", **facts)


class ImportTable(Table[Any]):
    """The rows of a file, with what each would save."""

    caption = _("Rows of the file")

    @column(_("Row"), css="num", phone="1 right")
    def line(self, row: Planned) -> int:
        return row.line

    @column(_("Name"), phone="1 left")
    def name(self, row: Planned) -> str:
        return row.name or "–"

    @column(_("Number"), css="nowrap", phone="2 left")
    def number(self, row: Planned) -> SafeString | str:
        """The number as it would be saved; beside it the number in the file, if that differs."""
        if not row.kind:
            return row.typed or "–"
        shown = row.kind.shown(row.destination)
        if bare(row.typed) == bare(row.destination):
            return shown
        return format_html('{} <span class="sub">{}</span>', shown, row.typed)

    @column(_("For"), css="sub", phone="3 wide")
    def what(self, row: Planned) -> str:
        return row.product.name if row.product else str(row.kind.name) if row.kind else ""

    @column(_("Note"), css="sub", phone="4 wide")
    def note(self, row: Planned) -> str:
        return row.note

    @column(_("What happens"), phone="5 wide")
    def outcome(self, row: Planned) -> SafeString:
        return format_html('<span data-outcome="{}">{}</span> {}', row.outcome, row.outcome.badge, row.words)
