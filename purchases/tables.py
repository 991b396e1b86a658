"""Orders as a list."""

from collections.abc import Iterable
from operator import attrgetter
from typing import Any, ClassVar

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy as _

from branches.seeing import names_branches
from core.money import rupiah, signed_rupiah
from core.numbers import masked, still_seen, without
from core.rights import Right
from core.tables import Table, column, row_link, shortened
from core.times import moment
from purchases.models import Order
from purchases.presenting import ending_marks, serial_number, shown_destination
from purchases.states import Status
from purchases.templatetags.orders import status_badge
from staff.models import User
from upstream.error_codes import meaning_of


def _profit(order: Order) -> int:
    return order.customer_pays - order.shown_price


class OrderTable(Table[Order]):
    """Orders, read with `for_table()`. `with_cost`: for people who may see costs. `person`: the viewer.

    `with_ticks`: each can be ticked for the form `bulk`. The extra columns need what `with_payment()` reads.
    """

    caption = _("Orders, newest first")
    export: ClassVar[dict[str, Any]] = {
        "ref_id": attrgetter("ref_id"),
        "placed": attrgetter("created_at"),
        "ended": lambda order: order.final_at or "",
        "status": attrgetter("status"),
        "product_code": attrgetter("product_code"),
        "product": attrgetter("product_name"),
        "destination": lambda order: masked(order.destination),
        "sn": lambda order: without(still_seen(order.sn), [order.destination]),
        "price": attrgetter("customer_pays"),
        "cost": attrgetter("shown_price"),
        "profit": lambda order: _profit(order) if order.status == Status.SUCCESS else "",
        "paid_by": lambda order: order.payment.method,
        "cashier": lambda order: order.placed_by.username if order.placed_by else "",
        "trx_id": attrgetter("trx_id"),
        "branch": attrgetter("payment.branch_name"),
    }
    export_whole: ClassVar = export | {"destination": attrgetter("destination"), "sn": attrgetter("sn")}
    export_words: ClassVar = {
        "product_code": _("Product code"),
        "product": _("Product"),
        "cost": _("Cost"),
        "sn": "SN",
        "ref_id": "ref_id",
    }
    export_shown: ClassVar = {
        "status": lambda order: Status(order.status).label,
        "paid_by": attrgetter("payment.method_words"),
        "cashier": lambda order: order.placed_by.shown_name if order.placed_by else "",
    }

    def __init__(
        self,
        rows: Iterable[Order],
        *,
        person: User | None = None,
        prefix: str = "row",
        with_cost: bool = False,
        with_ticks: bool = False,
        columns: str = "",
    ) -> None:
        super().__init__(rows, prefix=prefix, columns=columns)
        self.person, self.with_cost, self.with_ticks = person, with_cost, with_ticks

    def row_marks(self, order: Order) -> SafeString:
        """The attributes with which the page rings when the viewer's own order ends."""
        return ending_marks(order, self.person)

    @column(_("Status"), phone="1 left", fields=("status",))
    def status(self, order: Order) -> SafeString:
        """The status, with the tick before it."""
        if not self.with_ticks:
            return status_badge(order.status)
        tick = '<input class="form-check-input over-row" type="checkbox" form="bulk" name="order" value="{}"'
        words = gettext("Tick the order")
        return format_html(f'{tick} aria-label="{{}}"> {{}}', order.ref_id, words, status_badge(order.status))

    @column(_("Product"), phone="2 left", fields=("product_code", "product"), stays=True)
    def product(self, order: Order) -> SafeString:
        """The product, as a link to the order, and the order's tags."""
        tags = format_html_join("", ' <span class="tag">{}</span>', ((name,) for name in order.tag_names))
        return row_link(order.get_absolute_url(), order.product_name) + tags

    @column(_("Destination"), css="nowrap", phone="3 left", fields=("destination",))
    def destination(self, order: Order) -> str:
        return shown_destination(order)

    @column(_("SN or reason"), phone="4 wide", fields=("sn",))
    def sn(self, order: Order) -> str:
        """The provider's text, or the reason why the order waits for a person or was rejected."""
        if serial := serial_number(order):
            return format_html('<span class="mono">{}</span>', shortened(serial.main, 26))
        if order.status == Status.REJECTED:
            return str(meaning_of(order.error_code).words)
        return order.get_action_reason_display() if order.status == Status.NEEDS_ACTION else ""

    @column(_("Price"), css="num", phone="2 right", fields=("price", "cost"))
    def price(self, order: Order) -> str:
        """The customer's price; below it the cost, if it differs."""
        if not self.with_cost or order.customer_pays == order.shown_price:
            return rupiah(order.customer_pays)
        cost = gettext("cost %(amount)s") % {"amount": rupiah(order.shown_price)}
        return format_html('{}<div class="sub nowrap">{}</div>', rupiah(order.customer_pays), cost)

    @column(_("Placed"), phone="1 right", fields=("placed", "ref_id"))
    def time(self, order: Order) -> SafeString:
        return format_html('{}<div class="mono sub nowrap">{}</div>', moment(order.created_at), order.ref_id)

    @column(_("Profit"), css="num", phone="none", fields=("profit",), is_extra=True, right=Right.VIEW_COST)
    def profit(self, order: Order) -> str:
        """The profit of an arrived order; "" for every other one."""
        return signed_rupiah(_profit(order)) if order.status == Status.SUCCESS else ""

    @column(_("Cashier"), phone="none", fields=("cashier",), is_extra=True)
    def cashier(self, order: Order) -> str:
        return order.placed_by.shown_name if order.placed_by else ""

    @column(_("Paid by"), phone="none", fields=("paid_by",), is_extra=True)
    def paid_by(self, order: Order) -> str:
        return str(order.payment.method_words)

    @column(_("Branch"), phone="none", fields=("branch",), is_extra=True, when=names_branches)
    def branch(self, order: Order) -> str:
        return order.payment.branch_name

    @column(_("Ended"), phone="none", fields=("ended",), is_extra=True)
    def ended(self, order: Order) -> SafeString | str:
        return moment(order.final_at) if order.final_at else ""

    @column("trx_id", css="mono", phone="none", fields=("trx_id",), is_extra=True)
    def trx_id(self, order: Order) -> str:
        return order.trx_id
