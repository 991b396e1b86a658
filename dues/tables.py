"""Bills due as a list."""

from collections.abc import Iterable, Mapping, Sequence

from django.middleware.csrf import get_token
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy as _

from bills.templatetags.bills import name_or_reason
from core.access import StaffRequest
from core.looks import badge
from core.money import rupiah
from core.tables import Table, cell_from, column, row_link
from core.times import day_words
from customers.presenting import as_query, shown_number
from dues.holders import holders_of
from dues.models import ASKS, OWES, DueBill, DueState, FollowedNumber
from dues.presenting import until_words


class DueTable(Table[DueBill]):
    """Bills read with `for_table()`. `texts`: the addresses of WhatsApp by key.

    `may_pay`: each bill can be ticked, unless an act is about to pay it.
    """

    caption = _("Bills due, the first one on top")

    def __init__(
        self, bills: Sequence[DueBill], *, request: StaffRequest, texts: Mapping[int, str], may_pay: bool
    ) -> None:
        super().__init__(bills)
        self.request, self.texts, self.may_pay = request, texts, may_pay
        self.holders = holders_of([bill for bill in bills if bill.state in OWES], request.user)

    @column(_("State"), phone="1 left")
    def state(self, bill: DueBill) -> SafeString:
        """The state, with the tick before it, or with the act that is about to pay it."""
        shown = DueState(bill.state).badge
        if holder := self.holders.get(bill.pk):
            return format_html('{}<div class="sub" data-held>{}</div>', shown, holder.words)
        if not self.may_pay or bill.state not in OWES:
            return shown
        tick = '<input class="form-check-input over-row" type="checkbox" form="several" name="number" value="{}"'
        words = gettext("Tick the bill")
        return format_html(
            f'{tick} data-amount="{{}}" aria-label="{{}}"> {{}}', bill.number_id, bill.to_pay, words, shown
        )

    @column(_("Customer"), phone="2 wide")
    def customer(self, bill: DueBill) -> SafeString:
        customer = bill.number.customer
        return row_link(customer.get_absolute_url(), customer.name)

    @column(_("Bill"), phone="3 wide")
    def biller(self, bill: DueBill) -> SafeString:
        """The biller, the number and the months, or the reason why there is no bill."""
        check, product = bill.bill_check, bill.number.product
        found = (check.period or name_or_reason(check)) if check else ""
        line = " · ".join(filter(None, (shown_number(bill.number), found)))
        return format_html('{}<div class="sub">{}</div>', product.name if product else "", line)

    @column(_("Total"), css="num", phone="1 right")
    def total(self, bill: DueBill) -> SafeString | str:
        """Rupiah that the customer pays; below it the previous bill."""
        if bill.to_pay is None:
            return ""
        if bill.old_total is None:
            return rupiah(bill.to_pay)
        before = gettext("before %(amount)s") % {"amount": rupiah(bill.old_total)}
        return format_html('{}<div class="sub nowrap">{}</div>', rupiah(bill.to_pay), before)

    @column(_("Due"), phone="4 wide")
    def due(self, bill: DueBill) -> SafeString:
        """Its day, the fine, and whether its night was missed."""
        lines = []
        if bill.bill_check and bill.bill_check.penalty:
            lines.append(gettext("with a fine of %(amount)s") % {"amount": rupiah(bill.bill_check.penalty)})
        lines += until_words(bill)
        if bill.checked_late_on:
            lines.append(gettext("checked late, on %(day)s") % {"day": day_words(bill.checked_late_on)})
        shown = badge(("alert-triangle", "bad"), day_words(bill.due_on)) if bill.has_fine else day_words(bill.due_on)
        return format_html('{}<div class="sub">{}</div>', shown, " · ".join(lines))

    @column(_("Next step"))
    def step(self, bill: DueBill) -> SafeString:
        """The step that this person can take now."""
        facts = {
            "bill": bill,
            "query": as_query(bill.number),
            "whatsapp": self.texts.get(bill.pk, ""),
            "is_owed": bill.state in OWES,
            "holder": self.holders.get(bill.pk),
            "asks": bill.state in ASKS,
            "may_pay": self.may_pay,
            "user": self.request.user,
            "token": get_token(self.request) if bill.state in ASKS else "",
        }
        return cell_from("dues/actions.html", **facts)


class WaitingTable(Table[FollowedNumber]):
    """Followed numbers that are `waiting`, read with customer and product."""

    caption = _("Followed bills that were not checked yet, by customer")

    def __init__(self, rows: Iterable[FollowedNumber]) -> None:
        super().__init__(rows)
        self.today = timezone.localdate()

    @column(_("State"), phone="1 left")
    def state(self, _followed: FollowedNumber) -> SafeString:
        return badge(("clock", "queued"), gettext("Not checked yet"))

    @column(_("Customer"), phone="2 wide")
    def customer(self, followed: FollowedNumber) -> SafeString:
        customer = followed.number.customer
        return row_link(customer.get_absolute_url(), customer.name)

    @column(_("Bill"), phone="3 wide")
    def biller(self, followed: FollowedNumber) -> SafeString:
        product = followed.number.product
        shown = shown_number(followed.number)
        return format_html('{}<div class="sub">{}</div>', product.name if product else "", shown)

    @column(_("Next check"), phone="4 wide")
    def next_check(self, followed: FollowedNumber) -> str:
        """The day of the night check."""
        return day_words(followed.next_day(self.today))
