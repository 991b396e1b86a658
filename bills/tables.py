"""Bill checks as a list."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from bills.models import BillCheck
from bills.templatetags.bills import name_or_reason, state_badge
from core.money import rupiah
from core.tables import Table, column, row_link, shortened
from core.times import moment
from purchases.templatetags.orders import status_badge


class BillTable(Table[BillCheck]):
    """Checks `with_standing`, with their order and their product."""

    caption = _("Bill checks, newest first")

    @column(_("Status"), phone="1 left")
    def status(self, check: BillCheck) -> SafeString:
        """Its standing; while it is being paid, the payment's status."""
        order = check.order
        return status_badge(order.status) if order and not order.is_final else state_badge(check.now_standing)

    @column(_("Biller"), phone="2 left")
    def product(self, check: BillCheck) -> SafeString:
        """Whose bill; leads to it."""
        return row_link(check.get_absolute_url(), check.product_name)

    @column(_("Customer number"), css="nowrap", phone="3 wide")
    def destination(self, check: BillCheck) -> str:
        """The customer number, grouped for reading aloud."""
        return check.product.kind.as_seen(check.destination)

    @column(_("Customer"), phone="4 wide")
    def sn(self, check: BillCheck) -> str:
        """The customer's name, or why there is no bill."""
        return shortened(name_or_reason(check), 40)

    @column(_("Total"), css="num", phone="2 right")
    def price(self, check: BillCheck) -> str:
        """Rupiah that the customer pays, with the shop's fee."""
        return rupiah(check.to_pay)

    @column(_("Checked"), phone="1 right")
    def time(self, check: BillCheck) -> SafeString:
        """When it was checked, and its name."""
        return format_html('{}<div class="mono sub nowrap">{}</div>', moment(check.created_at), check.ref_id)
