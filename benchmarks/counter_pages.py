"""The pages of the counter, of drawers, refunds, credit and complaints, for `pages.py`, and what they show.

`seed_history` has no drawers, debts and complaints. Refunds, complaints and debts are made of its orders here: with a
thousand times as many orders there are a thousand times as many. The shifts are of today only, and as many in both.
"""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

# Of so many orders one is complained about, of so many failed ones the customer is owed one, of so many customers one
# buys on credit.
_COMPLAINTS, _OWED, _DEBTORS = 50, 5, 2
_SALES = 30
_DEBT = 25_000
_AT_ONCE = 500


def fill_counter() -> None:
    """Make refunds, complaints, debts and two shifts, where there are none yet."""
    from django.db import transaction

    from drawers.models import Shift
    from staff.models import User

    if Shift.objects.exists():
        return
    owner = User.objects.get(username="owner")
    with transaction.atomic():
        made = {
            "refunds": _owe(),
            "complaints": _complain(owner),
        }
        _analyze("drawers_payment", "complaints_complaint", "complaints_complaintevent")
    made["debts"] = _lend(owner)
    with transaction.atomic():
        _work(owner)
    print(", ".join(f"{count} {what}" for what, count in made.items()), file=sys.stderr)


def _analyze(*tables: str) -> None:
    """Renew their statistics: with those of an empty table PostgreSQL reads all of it for each row that comes."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {', '.join(tables)}")


def _owe() -> int:
    """The history was sold without drawers, so that only what was reversed is noted by itself."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(
            "UPDATE drawers_payment SET outcome = 'owed' FROM purchases_order o"
            " WHERE o.payment_id = drawers_payment.id AND o.status = 'failed' AND o.id %% %s = 0",
            [_OWED],
        )
        made = cursor.rowcount
        cursor.execute("SET LOCAL session_replication_role = origin")
    return int(made)


def _complain(owner: Any) -> int:
    from complaints.models import Complaint, ComplaintEvent, State
    from purchases.models import Order

    orders: Any = Order.objects.filter(status="success").order_by("pk").values_list("pk", "final_at")
    chosen = [one for number, one in enumerate(orders.iterator()) if not number % _COMPLAINTS]
    made = Complaint.objects.bulk_create(
        [
            Complaint(
                order_id=pk,
                state=State.OPEN if number % 3 == 0 else State.CLOSED,
                opened_at=at,
                opened_by=owner,
                due_at=at + dt.timedelta(days=1),
                closed_at=None if number % 3 == 0 else at,
            )
            for number, (pk, at) in enumerate(chosen)
        ],
        batch_size=1000,
    )
    events = [
        ComplaintEvent(
            complaint=one, at=one.opened_at, person=owner, state=one.state, words="It has not come.", due_at=one.due_at
        )
        for one in made
    ]
    ComplaintEvent.objects.bulk_create(events, batch_size=1000)
    return len(made)


def _lend(owner: Any) -> int:
    from django.db import transaction

    from credit.services import bring_forward, set_credit
    from customers.models import Customer

    debtors = Customer.objects.order_by("pk")[::_DEBTORS]
    for first in range(0, len(debtors), _AT_ONCE):
        with transaction.atomic():
            _analyze("credit_creditaccount", "credit_creditentry")
            for customer in debtors[first : first + _AT_ONCE]:
                account = set_credit(customer, cap=10 * _DEBT, due_days=14, actor=owner)
                bring_forward(account, amount=_DEBT, reason="by the book", actor=owner)
    return len(debtors)


def _work(owner: Any) -> None:
    """A shift of the owner that was closed, and one that is open, each with some sales that never end."""
    from core import clock
    from drawers.models import DENOMINATIONS, Payment
    from drawers.services import add_drawer, close_shift, open_shift
    from purchases.models import Order
    from purchases.states import Status

    pieces = [0] * (len(DENOMINATIONS) - 1) + [1]
    drawer = add_drawer("Front", actor=owner)
    last = Order.objects.filter(status="success", kind="purchase").latest("pk")
    for is_over in (True, False):
        shift = open_shift(drawer, pieces=pieces, actor=owner, reason="counted")
        for number in range(_SALES):
            ref_id, amount = f"BENCH-{int(is_over)}-{number:04d}", last.max_price + 2_000
            Order.objects.create(
                ref_id=ref_id,
                payment=Payment.objects.create(
                    ref_id=ref_id, seller=owner, at=clock.now(), amount=amount, sold_in=shift
                ),
                idempotency_key=f"bench-{int(is_over)}-{number}",
                product_id=last.product_id,
                product_code=last.product_code,
                product_name=last.product_name,
                destination=f"0812{int(is_over)}{number:07d}",
                max_price=last.max_price,
                price=last.max_price,
                selling_price=amount,
                status=Status.PENDING,
                placed_by=owner,
                trx_id="T",
                sent_at=clock.now(),
                sent_no=1,
                accepted_no=2,
                attempt=1,
                next_poll_at="2030-01-01T00:00:00Z",
            )
        if is_over:
            close_shift(shift, pieces=pieces, actor=owner, reason="a benchmark")


def counter_pages(order: Any) -> Iterator[tuple[str, str]]:
    """Their pages, with the history's `order` in the middle: (name, address)."""
    from django.urls import reverse
    from django.utils import timezone

    from complaints.models import Complaint
    from credit.models import CreditAccount
    from drawers.models import Payment, Shift

    counter, arrived = reverse("counter"), reverse("arrived")
    yield "counter", counter
    yield "counter, number", f"{counter}?q={order.destination}"
    yield "counter, number and amount", f"{counter}?q={order.destination}+10"
    yield "counter, words", f"{counter}?q=tel+10"
    yield "counter, review", f"{counter}?q={order.destination}&pick={order.product_code}"
    yield "arrived", arrived
    for name, text in {"number": order.destination, "SN": order.sn, "ref_id": order.ref_id}.items():
        yield f"arrived, {name}", f"{arrived}?q={quote(text)}"
    complaints = reverse("complaint_list")
    complaint = Complaint.objects.earliest("pk")
    yield "complaints", complaints
    yield "complaints, all", f"{complaints}?state=all"
    yield "complaints, search", f"{complaints}?q={complaint.order.ref_id}"
    yield "order with a complaint", reverse("order_detail", args=[complaint.order.ref_id])
    refunds = reverse("refund_list")
    yield "refunds", refunds
    refunded = Payment.objects.refunds().filter(order__kind="purchase", order__status="reversed").earliest("pk")
    yield "refunds, search", f"{refunds}?q={refunded.ref_id}"
    yield "order with a refund", reverse("order_detail", args=[refunded.ref_id])
    yield "credit", reverse("credit_list")
    account = CreditAccount.objects.earliest("pk")
    yield "credit of a customer", reverse("credit_account", args=[account.customer_id])
    yield "own drawer", reverse("drawer")
    yield "drawers", reverse("drawer_list")
    yield "shifts", reverse("shift_list")
    for name, shift in zip(("shift, closed", "shift, open"), Shift.objects.order_by("pk"), strict=True):
        yield name, reverse("shift_detail", args=[shift.pk])
    yield "close a shift", reverse("shift_close", args=[Shift.objects.latest("pk").pk])
    yield "shifts of the day", reverse("drawer_day", args=[timezone.localdate()])
    yield "selling prices", reverse("prices")
    yield "add a price rule", reverse("price_rule")
