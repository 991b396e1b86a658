"""Bill checks as a list."""

from operator import attrgetter
from typing import Any, ClassVar

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from bills.models import BillCheck
from bills.states import Standing
from bills.templatetags.bills import name_or_reason, state_badge
from core.money import rupiah
from core.numbers import masked
from core.rights import Right
from core.tables import Table, column, row_link, shortened
from core.times import moment
from purchases.states import Status
from purchases.templatetags.orders import status_badge


def _status(check: BillCheck) -> str:
    """Its standing; while it is being paid, the payment's status."""
    return check.order.status if check.order and not check.order.is_final else check.now_standing


def _status_words(check: BillCheck) -> Any:
    order = check.order
    return Status(order.status).label if order and not order.is_final else Standing(check.now_standing).state.label


class BillTable(Table[BillCheck]):
    """Checks, read with `for_table()`."""

    caption = _("Bill checks, newest first")
    export: ClassVar[dict[str, Any]] = {
        "ref_id": attrgetter("ref_id"),
        "checked": attrgetter("created_at"),
        "status": _status,
        "product_code": attrgetter("product_code"),
        "product": attrgetter("product_name"),
        "destination": lambda check: masked(check.destination),
        "customer": attrgetter("customer_name"),
        "period": attrgetter("period"),
        "total": lambda check: "" if check.to_pay is None else check.to_pay,
        "fee": attrgetter("fee"),
        "expires": lambda check: check.expires_at or "",
    }
    export_whole: ClassVar = export | {"destination": attrgetter("destination")}
    export_words: ClassVar = {"product_code": _("Product code"), "product": _("Biller"), "ref_id": "ref_id"}
    export_shown: ClassVar = {"status": _status_words}

    @column(_("Status"), phone="1 left", fields=("status",))
    def status(self, check: BillCheck) -> SafeString:
        """Its standing; while it is being paid, the payment's status."""
        order = check.order
        return status_badge(order.status) if order and not order.is_final else state_badge(check.now_standing)

    @column(_("Biller"), phone="2 left", fields=("product_code", "product"), stays=True)
    def product(self, check: BillCheck) -> SafeString:
        """The biller, as a link to the bill."""
        return row_link(check.get_absolute_url(), check.product_name)

    @column(_("Customer number"), css="nowrap", phone="3 wide", fields=("destination",))
    def destination(self, check: BillCheck) -> str:
        """The customer number, grouped for reading aloud."""
        return check.product.kind.as_seen(check.destination)

    @column(_("Customer"), phone="4 wide", fields=("customer",))
    def sn(self, check: BillCheck) -> str:
        """The customer's name, or the reason why there is no bill."""
        return shortened(name_or_reason(check), 40)

    @column(_("Total"), css="num", phone="2 right", fields=("total",))
    def price(self, check: BillCheck) -> str:
        """Rupiah that the customer pays, with the shop's fee."""
        return rupiah(check.to_pay)

    @column(_("Checked"), phone="1 right", fields=("checked", "ref_id"))
    def time(self, check: BillCheck) -> SafeString:
        return format_html('{}<div class="mono sub nowrap">{}</div>', moment(check.created_at), check.ref_id)

    @column(_("Period"), phone="none", fields=("period",), is_extra=True)
    def period(self, check: BillCheck) -> str:
        """The months that it bills, in the biller's words."""
        return shortened(check.period, 40)

    @column(_("Shop's fee"), css="num", phone="none", fields=("fee",), is_extra=True, right=Right.VIEW_COST)
    def fee(self, check: BillCheck) -> str:
        """Rupiah of the total that stay with the shop."""
        return rupiah(check.fee)

    @column(_("Valid until"), phone="none", fields=("expires",), is_extra=True)
    def expires(self, check: BillCheck) -> SafeString | str:
        return moment(check.expires_at) if check.expires_at else ""
