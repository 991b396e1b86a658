"""A demo's first month: sales, bills, shifts, debts and faults, each by its service and at its time."""

import datetime as dt
from collections.abc import Callable, Sequence
from random import Random
from uuid import uuid4

from django.core.management import call_command
from django.utils import timezone

from backoffice.demo.furnishing import furnish_demo
from backoffice.demo.sandbox import Sandbox
from bills.models import BillCheck
from bills.services import inquire, pay_bill, start_check
from catalogue.models import Product
from catalogue.services import sync_catalogue
from complaints.services import move_complaint, open_complaint
from core.clock import demo_time
from core.times import start_of_day
from credit.models import CreditAccount
from customers.models import SavedNumber
from drawers.models import DENOMINATIONS, Drawer, Shift
from drawers.services import (
    PaymentFacts,
    close_shift,
    expected_cash,
    give_back,
    open_shift,
    pay_out,
    sign_day,
    take_credit_payment,
)
from dues.services import follow
from earnings.services import sum_days
from gateway.services import read_balance
from ledger.services import books, close_days
from purchases.errors import NeedsApproval
from purchases.models import Order
from purchases.services import (
    ask_for_approval,
    cancel_order,
    close_never_arrived,
    count_what_is_bought,
    place_order,
    poll,
    submit,
)
from purchases.services.placing import IN_CASH
from purchases.states import Status
from reconciliation.services import announce_top_up, reconcile
from staff.models import User
from staff.services import Limits
from staff.services.limit_changes import change_limits
from upstream.budget import CallClass

DAYS = 30
_FLOAT = 300_000  # what stays in a drawer overnight, rupiah
# A product, and the beginning of its customers' numbers.
_BASKET = [
    *(("TSEL10", "0812"), ("TSEL20", "0813"), ("TSEL5", "0821"), ("TSEL50", "0812"), ("TSELD3G30", "0822")),
    *(("ISAT10", "0857"), ("ISATD5G30", "0858"), ("XL25", "0878"), ("AXIS10", "0838"), ("TRI10", "0896")),
    *(("SMART20", "0881"), ("PLN20", "32114"), ("PLN50", "32117"), ("PLN100", "53001"), ("DANA50", "0813")),
    *(("GOPAY20", "0857"), ("SPAY25", "0895"), ("FF140", "11802"), ("VIDIO1", "0812")),
]
_METHODS = ["cash"] * 7 + ["qris"] * 2 + ["transfer"]
# By days ago, the customer who buys on credit, pays the debt (`_PAID`), or pays a bill (`_BILLS`).
_ON_CREDIT = {
    **dict.fromkeys((29, 14), "Bu Tuti"),
    **dict.fromkeys((26, 11), "Mas Dodi"),
    **dict.fromkeys((17, 5), "Bu Wati"),
    23: "Pak Budi",
    20: "Pak Agus",
    8: "Bu Sari",
    3: "Bu Lilis",
    1: "Mbak Nita",
}
_FOR_PHONES = {"081": "TSEL50", "085": "ISAT50", "087": "XL50"}
_PAID = {19: "Bu Tuti", 16: "Mas Dodi", 10: "Bu Wati", 4: "Bu Sari"}
_BILLS = {24: "Bu Sari", 21: "Bu Lilis", 15: "Pak Agus", 9: "Bu Wati"}
_DUE_BILLS = ["Pak Yanto", "Mbak Nita"]
_TOP_UP = (12, 5_000_000)
# By days ago, the difference between counted and expected cash, in rupiah, and the reason.
_DIFFERENCES = {22: (-2_000, "salah kembalian"), 13: (1_000, "kembalian tidak diambil"), 6: (-5_000, "belum ketemu")}
# Numbers that make the sandbox behave like this: docs/sandbox.md.
_FAILS, _NEVER_ARRIVES, _OUTAGE, _INVALID = "087890000004", "081290000011", "081390000022", "082190000023"


def live_a_month() -> bool:
    """Furnish the shop and let it live through a month until now; False if the shop is not a new demo.

    Only with the sandbox, with the demo's people, and while nothing has ever been in the books. Nobody may use the shop
    meanwhile: the books take entries in the order of their times. If it is interrupted, the shop keeps what exists by
    then.
    """
    owner = User.objects.filter(username="owner", is_demo=True, is_active=True).first()
    if owner is None or books().opened_at or Product.objects.exists() or Drawer.objects.exists():
        return False
    sandbox = Sandbox()
    with demo_time() as move:
        try:
            _Month(sandbox, move).live()
        finally:
            sandbox.live_in(None)
    count_what_is_bought()
    sum_days()
    User.objects.filter(is_demo=True).update(has_tips=True)
    return True


class _Month:
    """The shop while its month is made."""

    def __init__(self, sandbox: Sandbox, move: Callable[[dt.datetime], None]) -> None:
        self._sandbox, self._move = sandbox, move
        self._dice = Random(23)  # noqa: S311 - the same shop each time
        self._until, self._today = timezone.now(), timezone.localdate()
        self._now = self._morning(DAYS + 1)

    def live(self) -> None:
        """Live through all of it, up to now."""
        self._pass()
        # Longer ago than `HELD_DAYS`, so that the owner may be the second person beside this cashier
        change_limits(_person("cashier"), Limits(approval_above=500_000), actor=_person("owner"))
        self._pass(to=self._morning(DAYS))
        self._meet()
        call_command("declare_fresh_budget")
        sync_catalogue()
        furnish_demo(_person("owner"))
        cashier, supervisor, owner = (_person(name) for name in ("cashier", "supervisor", "owner"))
        self._compare()
        one, two = Drawer.objects.order_by("pk")
        for days in range(DAYS, 0, -1):
            self._pass(to=self._morning(days))
            close_days()
            if days < DAYS:
                sign_day(self._today - dt.timedelta(days=days + 1), actor=owner)
            self._work(one, cashier, days, hours=7)
            if days % 2 or days in _BILLS:
                self._work(two, supervisor, days, hours=6)
            if days % 6 == 0:
                self._compare()
        self._work_today(one, cashier)

    # --- Time ---------------------------------------------------------------------------------------------------------

    def _morning(self, days: int) -> dt.datetime:
        return start_of_day(self._today - dt.timedelta(days=days)) + dt.timedelta(hours=7, minutes=30)

    def _pass(self, seconds: float = 0.0, *, to: dt.datetime | None = None) -> None:
        """Move the shop's time on by `seconds`, or to a moment; never beyond the real time."""
        wanted = to or self._now + dt.timedelta(seconds=seconds)
        self._now = max(self._now, min(wanted, self._until))
        self._move(self._now)

    def _meet(self) -> None:
        """Bring the sandbox to our time, before we ask it anything."""
        self._sandbox.live_in(self._now)

    def _compare(self) -> None:
        self._meet()
        read_balance()
        reconcile("reading")

    # --- A shift ------------------------------------------------------------------------------------------------------

    def _work(self, drawer: Drawer, seller: User, days: int, *, hours: int) -> None:
        """Make one shift of a day that is over."""
        began = self._now
        shift = self._open(drawer, seller)
        for moment in sorted(self._dice.uniform(0.05, 0.9) for _ in range(self._dice.choice((1, 1, 2)))):
            self._pass(to=began + dt.timedelta(hours=hours) * moment)
            self._sell_any(seller)
        if seller.username == "cashier":
            self._happen(days, seller, shift)
        elif name := _BILLS.get(days):
            self._pay_bill(self._check(name, seller), seller)
        self._pass(to=began + dt.timedelta(hours=hours))
        difference, reason = _DIFFERENCES.get(days, (0, "")) if seller.username == "cashier" else (0, "")
        if (more := expected_cash(shift) - _FLOAT) > 0:
            pay_out(shift, amount=more, reason="setor ke brankas", actor=seller)
        close_shift(shift, pieces=_pieces(expected_cash(shift) + difference), actor=seller, reason=reason)

    def _open(self, drawer: Drawer, seller: User) -> Shift:
        User.objects.filter(pk=seller.pk).update(last_login=self._now)  # people sign in before they open a drawer
        left = drawer.shifts.order_by("-opened_at").values_list("counted", flat=True).first()
        return open_shift(drawer, pieces=_pieces(_FLOAT if left is None else left), actor=seller)

    def _happen(self, days: int, seller: User, shift: Shift) -> None:
        """Make what happens on this day in addition to its usual sales."""
        if name := _ON_CREDIT.get(days):
            self._sell_to(name, seller)
        if name := _PAID.get(days):
            account = CreditAccount.objects.get(customer__name=name)
            take_credit_payment(account, amount=account.balance, method="cash", actor=seller)
        if days == _TOP_UP[0]:
            announce_top_up(amount=_TOP_UP[1], actor=_person("admin"), note="transfer BCA")
            self._meet()
            self._sandbox.top_up(_TOP_UP[1])
        match days:
            case 27 | 7:
                self._give_back(self._sell("TSEL20", _INVALID, seller), shift)
            case 25 | 13:
                self._give_back(self._sell("XL25", _FAILS, seller), shift)
            case 18:
                order = self._sell("TSEL10", _OUTAGE, seller)
                cancel_order(order, actor=seller, note="pelanggan tidak menunggu")
                self._give_back(order, shift)
            case 16:
                self._close_never_arrived(seller)
            case 10:
                order = self._sell("PLN100", "53001122334", seller)
                complaint = open_complaint(order, words="Token belum masuk ke meteran.", actor=seller)
                self._pass(1800)
                move_complaint(complaint, to="closed", words="Salah ketik, sudah masuk.", actor=seller)

    def _close_never_arrived(self, seller: User) -> None:
        order = self._sell("TSEL10", _NEVER_ARRIVES, seller)
        for _poll in range(3):
            self._pass(400)
            self._meet()
            poll(order.pk, call_class=CallClass.BACKGROUND)
        order.refresh_from_db()
        close_never_arrived(order, actor=_person("supervisor"), note="provider tidak menerimanya")
        self._give_back(order, None)

    def _give_back(self, order: Order, shift: Shift | None) -> None:
        """Give the customer the money back: cash out of the shift, or by transfer."""
        method = "cash" if shift else "transfer"
        give_back(order.payment, method=method, actor=shift.cashier if shift else _person("owner"), shift=shift)

    def _work_today(self, drawer: Drawer, cashier: User) -> None:
        """Make the present day: the drawer stays open, and each kind of work waits for somebody."""
        self._pass(to=max(start_of_day(self._today), self._until - dt.timedelta(hours=5)))
        close_days()
        self._open(drawer, cashier)
        began, time = self._now, self._until - self._now
        for part in (0.05, 0.2, 0.35, 0.5):
            self._pass(to=began + time * part)
            order = self._sell(*self._dice.choice(_BASKET[:11]), cashier)
        complaint = open_complaint(order, words="Sudah satu jam, belum masuk.", actor=cashier)
        move_complaint(complaint, to="asked", words="Ditanyakan ke provider.", actor=cashier)
        self._pass(to=began + time * 0.7)
        self._sell("XL25", _FAILS, cashier)
        self._sell("TSEL10", _OUTAGE, cashier)
        self._pass(to=self._until - dt.timedelta(seconds=60))
        self._meet()
        self._sandbox.set_price("TSEL50", Product.objects.get(code="TSEL50").price + 300)
        sync_catalogue()
        self._ask(cashier)
        for name in _DUE_BILLS:
            number = self._check(name, cashier).saved_number
            if number:
                fine_on = self._today + dt.timedelta(days=3)
                follow(number, day=self._today.day, fine_day=fine_on.day, actor=cashier)
        self._compare()  # before an order that leaves the comparison open
        self._sell("TSEL20", _NEVER_ARRIVES, cashier)
        self._meet()
        read_balance()  # so that the first page does not say that the provider cannot be reached

    # --- One sale -----------------------------------------------------------------------------------------------------

    def _sell_any(self, seller: User) -> None:
        code, beginning = self._dice.choice(_BASKET)
        self._sell(code, beginning, seller, PaymentFacts(method=self._dice.choice(_METHODS)))

    def _sell_to(self, name: str, seller: User) -> None:
        """A sale on credit to a customer: of the product that is saved with a number, or for the phone."""
        number = SavedNumber.objects.filter(customer__name=name).exclude(product__type="postpaid").latest("pk")
        code = number.product.code if number.product else _FOR_PHONES[number.destination[:3]]
        self._sell(code, number.destination, seller, PaymentFacts(method="credit", customer=number.customer))

    def _sell(self, code: str, number: str, seller: User, payment: PaymentFacts = IN_CASH) -> Order:
        """One sale, sent, and ended if it was accepted. `number`: a full number or its beginning."""
        product = Product.objects.get(code=code)
        number += "".join(self._dice.choices("123456789", k=max(0, 11 - len(number)) if "." not in number else 0))
        order = place_order(
            product=product,
            destination=number,
            max_price=product.price,
            idempotency_key=uuid4().hex,
            placed_by=seller,
            enqueue=False,
            payment=payment,
        )
        return self._send(order)

    def _send(self, order: Order) -> Order:
        self._meet()
        submit(order.pk, call_class=CallClass.BACKGROUND)
        order.refresh_from_db()
        seconds = self._dice.uniform(5, 12) if order.status == Status.PENDING else 0.0
        while order.status == Status.PENDING and self._now < self._until:
            self._pass(seconds)
            seconds *= 2  # where SANDBOX_SPEED makes it slow
            self._meet()
            poll(order.pk, call_class=CallClass.BACKGROUND)
            order.refresh_from_db()
        return order

    def _check(self, name: str, seller: User) -> BillCheck:
        number = SavedNumber.objects.bills().select_related("product").get(customer__name=name)
        check = start_check(
            product=Product.objects.get(code=number.product.code if number.product else ""),
            destination=number.destination,
            checked_by=seller,
            saved_number=number,
            enqueue=False,
        )
        self._meet()
        inquire(check.pk, call_class=CallClass.BACKGROUND)
        check.refresh_from_db()
        return check

    def _pay_bill(self, check: BillCheck, seller: User) -> None:
        order = pay_bill(
            check, amount=check.total or 0, paid_by=seller, enqueue=False, payment=PaymentFacts(method="qris")
        )
        self._send(order)

    def _ask(self, cashier: User) -> None:
        """Ask for a sale above the cashier's limit."""
        product = Product.objects.get(code="TSEL1000")
        try:
            place_order(
                product=product,
                destination="081288907766",
                max_price=product.price,
                idempotency_key=uuid4().hex,
                placed_by=cashier,
            )
        except NeedsApproval as need:
            ask_for_approval(need, actor=cashier, reason="pelanggan tetap, bayar tunai")


def _person(name: str) -> User:
    person: User = User.objects.get(username=name, is_demo=True)
    return person


def _pieces(amount: int) -> Sequence[int]:
    """A count of notes and coins that makes this amount (rupiah)."""
    pieces = []
    for value in DENOMINATIONS:
        pieces.append(amount // value)
        amount %= value
    return pieces
