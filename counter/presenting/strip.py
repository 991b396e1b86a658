"""The parts next to the counter's field: the pills, the strip of running orders, and the sales of today."""

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, cached_property
from urllib.parse import urlencode

from django.db.models import Count, OuterRef, Subquery, Sum
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _, pgettext

from approvals.models import Approval, ApprovalState
from approvals.presenting import ShownApproval
from approvals.services import changes_seen
from bills.services.acts import BillAct
from branches.seeing import own_branch, within
from catalogue.marks import mark_of
from catalogue.models import PriceRule, ProductType
from catalogue.rights import sees_cost
from core import clock
from core.looks import Look
from core.money import rupiah
from core.numbers import sees_whole
from core.rights import Right
from core.times import start_of_day
from core.together import Given, Together
from counter.presenting.tiles import in_fours
from credit.models import CreditEntry
from drawers.models.payments import owed
from drawers.presenting.sales import MoneyBack, change_in_coins, money_back
from drawers.services import OwnDrawer, own_drawer_of, own_drawer_questions, will_be_owed
from ledger.models import Books
from ledger.services import available, low_below, spending_question, usual_spending_of
from purchases.models import Order
from purchases.models.orders import CUSTOMER_PAYS, SHOP_PAYS
from purchases.presenting import SerialNumber, ending_marks, serial_number, shown_destination
from purchases.receipts import MeterOwner
from purchases.seals import seal_for
from purchases.services.actions import Action, allowed_actions, read_for_confirming
from purchases.services.acts import PurchaseAct
from purchases.states import OPEN, UNFULFILLED, ActionReason, Status
from staff.models import User

# The strip shows at most this many of a person's last orders and of the refunds due, both from the last hours, and of
# the open orders.
_LAST, _MOST_OWED, _MOST_OPEN = 6, 12, 12
_HOURS = dt.timedelta(hours=12)
# The acts that sell, once a second person has approved them.
_SALES = (PurchaseAct.name, BillAct.name)


def in_short(order: Order) -> str:
    """A sale in one line, as it is read to the customer: product, number, price."""
    return " · ".join((order.product_name, in_fours(shown_destination(order)), rupiah(order.customer_pays)))


@dataclass(frozen=True)
class Row:
    """One order in the strip of `person`, with its payment. `debtor`: the customer whose account has it, or "".

    `will_be_owed`: whether the shop has to give the payment back if the order is cancelled. `books`: None to read them.
    """

    order: Order
    person: User
    debtor: str = ""
    will_be_owed: bool = False
    books: Books | None = None

    @property
    def row_id(self) -> str:
        return f"run-{self.order.pk}"

    @property
    def ending_marks(self) -> SafeString:
        """Attributes that make the page ring at its end; the strip shows only the person's own orders."""
        return ending_marks(self.order, self.order.placed_by)

    @property
    def mark(self) -> SafeString:
        return mark_of(self.order.product.brand.name)

    @property
    def destination(self) -> str:
        """The number, as the viewer may see it."""
        return in_fours(shown_destination(self.order))

    @property
    def serial(self) -> SerialNumber | None:
        """The provider's text."""
        return serial_number(self.order) if self.order.status == Status.SUCCESS else None

    @property
    def owner(self) -> MeterOwner | None:
        """The owner of the meter for which a token is."""
        return MeterOwner.read(self.serial) if self.serial and self.serial.is_token else None

    @property
    def is_open(self) -> bool:
        """Whether it is on its way."""
        return self.order.status in OPEN

    @property
    def is_success(self) -> bool:
        return self.order.status == Status.SUCCESS

    @property
    def says(self) -> str:
        """A few words about it now; "" if the status says enough."""
        status = Status(self.order.status)
        if self.is_in_doubt:
            return _("It may have been charged. Do not sell it again.")
        if status == Status.NEEDS_ACTION:
            return str(self.order.get_action_reason_display())
        if status in UNFULFILLED:
            if self.order.payment.is_given:
                return _("Given back.")
            if self.person.has_perm(Right.GIVE_BACK):
                return _("Nothing delivered: refund.")
            return _("Nothing delivered: ask a supervisor to refund.")
        return ""

    @property
    def is_in_doubt(self) -> bool:
        """Whether it may have been charged, and nobody knows."""
        is_undecided = self.order.action_reason == ActionReason.NEVER_ARRIVED
        return self.order.status == Status.UNKNOWN or (self.order.status == Status.NEEDS_ACTION and is_undecided)

    @property
    def has_news(self) -> bool:
        """Whether there is news of it since it was sent."""
        return self.order.status not in {Status.QUEUED, Status.SENDING, Status.PENDING}

    @property
    def look(self) -> Look:
        return Status(self.order.status).look

    @property
    def said(self) -> str:
        """The line above the field, from the sending on."""
        if self.order.status == Status.NEEDS_ACTION and self.order.waits_for_topup:
            return _("Placed: it waits for a top-up.")
        sale = in_short(self.order)
        if not self.has_news:
            return _("Sent: %(sale)s") % {"sale": sale}
        news = f"{self.order.get_status_display()}: {sale}"
        return f"{news}. {self.says}" if self.is_in_doubt else news

    @property
    def said_icon(self) -> str:
        """The icon of that line."""
        return self.look.icon if self.has_news else "circle-check"

    @property
    def change(self) -> int:
        """The cash to give back, in coins and rupiah; 0 if the whole amount goes back, or a colleague has sold it."""
        is_due = self.order.status not in UNFULFILLED and self.order.placed_by_id == self.person.pk
        return change_in_coins(self.order.payment.change or 0) if is_due else 0

    @property
    def is_owed(self) -> bool:
        """Whether the customer is to get the money back."""
        return self.order.payment.is_owed

    @cached_property
    def acts(self) -> Collection[Action]:
        """The seller's steps while it needs action and the customer waits: cancel it, or confirm a risen cost."""
        if self.order.status != Status.NEEDS_ACTION:
            return ()
        offered = Action.CANCEL, Action.CONFIRM_PRICE
        possible = allowed_actions(self.order, self.person, of=self.books, among=offered)
        is_loss = self.order.sells_below(self.order.product.price)  # its page asks for the reason
        return possible - {Action.CONFIRM_PRICE} if is_loss else possible

    @property
    def money_back(self) -> MoneyBack | None:
        """The refund to the customer if the person cancels the order here; None if that is not possible."""
        is_offered = Action.CANCEL in self.acts
        return money_back(self.order.payment, is_owed=self.will_be_owed) if is_offered else None

    @property
    def cost_seal(self) -> str:
        """The seal of the cost to confirm, if the person may not see the cost."""
        return seal_for(self.order, self.person)

    @property
    def version(self) -> list[object]:
        """The values that decide the look of the row."""
        order = self.order
        payment, cost = order.payment, order.product.price if order.status == Status.NEEDS_ACTION else None
        paid = payment.outcome, payment.cash_given, payment.debt_id
        return [order.pk, order.status, order.sn, order.action_reason, cost, *paid, self.money_back]

    @property
    def again(self) -> str:
        """The address that sells the same again; "" if that is not possible, or the person may not see the number."""
        if self.is_open or not sees_whole(self.order.destination):
            return ""
        return f"{reverse('counter_review')}?{urlencode({'again': self.order.ref_id})}"


@dataclass(frozen=True)
class Sold:
    """A person's sales of today: how many have arrived, and rupiah."""

    count: int = 0
    sum: int = 0
    profit: int = 0


@dataclass(frozen=True)
class Asked(ShownApproval):
    """A sale of `person` that needs a second person."""

    @property
    def destination(self) -> str:
        """The number, as the viewer may see it."""
        return in_fours(self.about.rpartition(" → ")[2])


@dataclass(frozen=True)
class Strip:
    """A person's running orders, newest first, and the sales of today.

    `asked`: the person's requests for a second person that wait, or ended without an order.
    """

    rows: list[Row]
    sold: Sold
    shows_profit: bool
    asked: list[Asked]

    @property
    def parts(self) -> list[tuple[str, list[Row]]]:
        """The rows that are open, the refunds due, and the others, each with its title; no part without rows."""
        parts = [
            (pgettext("orders", "Open"), [row for row in self.rows if row.is_open]),
            (pgettext("refund", "Refunds due"), [row for row in self.rows if row.is_owed and not row.is_open]),
            (pgettext("orders", "Done"), [row for row in self.rows if not (row.is_open or row.is_owed)]),
        ]
        return [part for part in parts if part[1]]

    @property
    def not_finished(self) -> int:
        """The number of open orders."""
        return sum(row.is_open for row in self.rows)

    @property
    def newest_done(self) -> str:
        """The name of the row that ended last."""
        done = [row for row in self.rows if row.order.final_at]
        return max(done, key=lambda row: row.order.final_at or row.order.created_at).row_id if done else ""

    @property
    def version(self) -> list[object]:
        """The values that decide the look of the strip."""
        return [
            *(row.version for row in self.rows),
            *((asked.approval.pk, asked.state) for asked in self.asked),
            self.sold if self.shows_profit else (self.sold.count, self.sold.sum),
        ]

    @property
    def moving(self) -> Collection[Row | Asked]:
        """The rows that will change by themselves, or by a second person."""
        rows = [row for row in self.rows if row.is_open and row.order.status != Status.NEEDS_ACTION]
        return [*rows, *(asked for asked in self.asked if asked.approval.is_open)]


@dataclass(frozen=True)
class Pills:
    """The pills beside the heading: the person's own drawer, and the balance. None: the person may not see it.

    `available`: rupiah. `per_hour`: rupiah that an hour usually takes, None before that is known. `has_prices`: whether
    there is a price rule; without one the shop sells at cost.
    """

    drawer: OwnDrawer | None = None
    available: int | None = None
    per_hour: int | None = None
    has_prices: bool = True

    @property
    def lasts(self) -> str:
        """The time for which the balance usually lasts; "" if that is unknown."""
        if not self.per_hour or self.available is None:
            return ""
        hours = max(0, self.available) / self.per_hour
        if hours < 1:
            return _("lasts for less than 1 h")
        words = _("lasts for %(n)s h") if hours < 48 else _("lasts for %(n)s days")
        return words % {"n": int(hours if hours < 48 else hours / 24)}

    @property
    def is_low(self) -> bool:
        """Whether it is time to top up."""
        return self.available is not None and self.available < low_below(self.per_hour)


def read_pills_and_strip(person: User) -> tuple[Pills, Strip]:
    """Read both at one moment: one statement, and one more each while a request waits or an order needs action.

    Up to two more while such an order's cost has risen.
    """
    may_use, sees_balance = person.has_perm(Right.USE_DRAWERS), person.has_perm(Right.VIEW_BOOKS) and sees_cost(person)
    now = clock.now()
    questions = _questions(own_branch(), with_drawer=may_use, with_balance=sees_balance)
    orders, sums, rule, approvals, books, *others = questions.read(
        person=person.pk, lately=now - _HOURS, midnight=start_of_day(timezone.localdate(now))
    )
    sold = Sold(*(int(amount or 0) for amount in sums[0][1:])) if sums else Sold()
    owed = will_be_owed(order.payment for order in orders if order.status == Status.NEEDS_ACTION)
    read_for_confirming(orders, person)
    our_books = books[0] if books else None
    rows = [Row(order, person, order.debtor or "", order.payment_id in owed, our_books) for order in orders]
    void = changes_seen(approvals)  # asks only while one waits
    asked = [Asked(approval, person, void.get(approval.pk, {})) for approval in approvals]
    strip = Strip(rows, sold, sees_cost(person), asked)
    drawer = own_drawer_of(*others[:3]) if may_use else None
    if not sees_balance:
        return Pills(drawer, has_prices=bool(rule)), strip
    return Pills(drawer, available(our_books) if our_books else None, usual_spending_of(others[-1]), bool(rule)), strip


@cache
def _questions(branch: int | None, *, with_drawer: bool, with_balance: bool) -> Together:
    person = Given("person")
    own, asked = Order.objects.filter(placed_by=person), Approval.objects.filter(asked_by=person, act__in=_SALES)
    if branch is not None:
        own, asked = own.filter(within(branch, "payment__branch")), asked.filter(within(branch, "branch"))
    newest = own.filter(created_at__gte=Given("lately")).order_by("-created_at", "-pk").values("pk")
    lately, due = newest[:_LAST], newest.filter(owed("payment__"))[:_MOST_OWED]
    running = own.open().order_by("-created_at", "-pk").values("pk")[:_MOST_OPEN]
    owes = CreditEntry.objects.filter(pk=OuterRef("payment__debt"))
    shown = (
        Order.objects.select_related("product__brand", "placed_by", "payment__debt__account")
        .annotate(debtor=Subquery(owes.values("account__customer__name")[:1]))
        .filter(pk__in=lately.union(due, running, all=True))
        .order_by("-created_at", "-pk")
    )
    today = own.filter(created_at__gte=Given("midnight"), status=Status.SUCCESS)
    grouped = today.order_by().values_list("placed_by")
    sums = grouped.annotate(count=Count("pk"), sum=Sum(CUSTOMER_PAYS), profit=Sum(CUSTOMER_PAYS - SHOP_PAYS))
    rules = PriceRule.objects.filter(type=ProductType.PREPAID, ended_at=None).order_by().values_list("pk")[:1]
    asked = asked.filter(asked_at__gte=Given("lately")).order_by("-asked_at", "-pk")
    asked = asked.exclude(state__in=[ApprovalState.APPROVED, ApprovalState.WITHDRAWN])
    of_drawer = own_drawer_questions(person) if with_drawer else []
    of_balance = [spending_question()] if with_balance else []
    books = Books.objects.filter(only=True)
    return Together(shown, sums, rules, asked[:_LAST], books, *of_drawer, *of_balance)
