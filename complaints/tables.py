"""Complaints as a list."""

from operator import attrgetter
from typing import Any, ClassVar

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy as _

from complaints.models import Complaint, State
from core.looks import badge
from core.money import rupiah
from core.numbers import masked
from core.tables import Table, column, row_link
from core.times import moment
from purchases.presenting import shown_destination
from purchases.states import Status
from purchases.templatetags.orders import status_badge


class ComplaintTable(Table[Complaint]):
    """Complaints with their orders and the people who opened them."""

    caption = _("Complaints, the first due on top")
    export: ClassVar[dict[str, Any]] = {
        "opened": attrgetter("opened_at"),
        "opened_by": attrgetter("opened_by.username"),
        "state": attrgetter("state"),
        "due": attrgetter("due_at"),
        "closed": lambda complaint: complaint.closed_at or "",
        "ref_id": attrgetter("order.ref_id"),
        "product": attrgetter("order.product_name"),
        "destination": lambda complaint: masked(complaint.order.destination),
        "order_status": attrgetter("order.status"),
        "price": attrgetter("order.customer_pays"),
    }
    export_whole: ClassVar = export | {"destination": attrgetter("order.destination")}
    export_words: ClassVar = {
        "opened": _("Opened"),
        "opened_by": _("Opened by"),
        "closed": _("Closed"),
        "product": _("Product"),
        "order_status": _("Order's status"),
        "ref_id": "ref_id",
    }
    export_shown: ClassVar = {
        "opened_by": attrgetter("opened_by.shown_name"),
        "state": lambda complaint: State(complaint.state).label,
        "order_status": lambda complaint: Status(complaint.order.status).label,
    }

    @column(_("State"), phone="1 left", fields=("state",))
    def state(self, complaint: Complaint) -> SafeString:
        return complaint.badge

    @column(_("Order"), css="nowrap", phone="2 left", fields=("product",), stays=True)
    def order(self, complaint: Complaint) -> SafeString:
        """The product, as a link to the answer for the customer."""
        return row_link(complaint.get_absolute_url(), complaint.order.product_name)

    @column(_("Destination"), css="nowrap", phone="3 left", fields=("destination", "ref_id"))
    def destination(self, complaint: Complaint) -> SafeString:
        return format_html(
            '{}<div class="mono sub nowrap">{}</div>', shown_destination(complaint.order), complaint.order.ref_id
        )

    @column(_("Status"), phone="3 right", fields=("order_status",))
    def status(self, complaint: Complaint) -> SafeString:
        return status_badge(complaint.order.status)

    @column(_("Opened"), css="sub", fields=("opened_by", "opened"))
    def opened(self, complaint: Complaint) -> SafeString:
        return format_html("{} · {}", complaint.opened_by.shown_name, moment(complaint.opened_at))

    @column(_("Due"), css="sub", phone="4 wide", fields=("due", "closed"))
    def due(self, complaint: Complaint) -> SafeString:
        """The time by which somebody has to handle it again, and whether that is over."""
        if complaint.state == State.CLOSED:
            return moment(complaint.closed_at)
        due = format_html('<span class="phone-label">{} </span>{}', gettext("Due"), moment(complaint.due_at))
        if not complaint.is_overdue:
            return due
        late = badge(("alert-triangle", "bad"), gettext("Overdue"))
        return format_html("<span data-overdue>{}</span> {}", late, due)

    @column(_("Price"), css="num", phone="none", fields=("price",), is_extra=True)
    def price(self, complaint: Complaint) -> str:
        return rupiah(complaint.order.customer_pays)
