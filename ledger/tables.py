"""The entries of the books as a list, and the content of its files."""

from operator import attrgetter
from typing import ClassVar

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from core.money import rupiah, signed_rupiah
from core.numbers import masked_note
from core.tables import Table, cell_from, column, row_link
from core.times import clock
from ledger.models import Entry, OrderKind
from ledger.templatetags.ledger import entry_badge


class StatementTable(Table[Entry]):
    """Entries with their actors."""

    caption = _("Entries of the books, newest first")
    export: ClassVar = {
        "id": attrgetter("pk"),
        **{name: attrgetter(name) for name in ("at", "kind", "ref_id", "order_kind", "amount", "balance_change")},
        "held_change": attrgetter("reserved_change"),
        "balance_before": attrgetter("balance_before"),
        "balance_after": attrgetter("balance_after"),
        "held_after": attrgetter("reserved_after"),
        "actor": lambda entry: entry.actor.get_username() if entry.actor else "",
        "reason": lambda entry: masked_note(entry.reason),
    }
    export_words: ClassVar = {
        "at": _("Time"),
        "kind": _("Kind"),
        "order_kind": _("Kind of order"),
        "amount": _("Amount"),
        "balance_change": _("Change of the balance"),
        "held_change": _("Change of the reserved amount"),
        "balance_before": _("Balance before"),
        "balance_after": _("Balance after"),
        "held_after": _("Reserved after"),
        "actor": _("Person"),
        "reason": _("Reason"),
        **{name: name for name in ("id", "ref_id")},
    }
    export_shown: ClassVar = {
        "kind": lambda entry: Entry.Kind(entry.kind).label,
        "order_kind": lambda entry: entry.get_order_kind_display(),
    }

    @column(_("Kind"), phone="1 left")
    def kind(self, entry: Entry) -> SafeString:
        return entry_badge(entry.kind)

    @column(_("Amount"), css="num strong", phone="1 right")
    def amount(self, entry: Entry) -> str:
        """The entry's effect on the balance, or the reserved amount."""
        if entry.balance_change:
            return signed_rupiah(entry.balance_change)
        return format_html('<span class="quiet">{}</span>', rupiah(entry.amount))

    @column(_("Before → after"), css="num", phone="2 wide")
    def before_after(self, entry: Entry) -> SafeString:
        """The balance before and after the entry, or the reserved amount if the balance did not change."""
        if entry.balance_change:
            before, after = rupiah(entry.balance_before), rupiah(entry.balance_after)
            return format_html('<span class="quiet">{} →</span> {}', before, after)
        before, after = rupiah(entry.reserved_after - entry.reserved_change), rupiah(entry.reserved_after)
        return format_html('<span class="sub">{} {} → {}</span>', _("reserved"), before, after)

    @column(pgettext_lazy("purchase", "Order"), phone="3 wide")
    def order(self, entry: Entry) -> str:
        if not entry.ref_id:
            return ""
        link = row_link(reverse("order_detail", args=[entry.ref_id]), entry.ref_id, css="mono nowrap")
        if entry.order_kind != OrderKind.BILL:
            return link
        return format_html('{} <span class="sub">{}</span>', link, entry.get_order_kind_display())

    @column(_("Who and why"), phone="4 wide")
    def note(self, entry: Entry) -> SafeString:
        return cell_from("ledger/entry_note.html", entry=entry)

    @column(_("Time"), css="sub", phone="wide")
    def time(self, entry: Entry) -> str:
        """The time, to the second."""
        return clock(entry.at)
