"""The pages of the counter, of drawers, refunds, credit and complaints, for `pages.py`."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

_SALES = 30


def fill_counter() -> None:
    """Give the owner an open shift with sales that never end, as many as in any other shop; once."""
    from core import clock
    from drawers.models import DENOMINATIONS, Payment, Shift
    from drawers.services import add_drawer, open_shift
    from purchases.models import Order
    from purchases.states import Status
    from staff.models import User

    if Shift.objects.filter(closed_at=None).exists():
        return
    owner = User.objects.get(username="owner")
    shift = open_shift(add_drawer("Front", actor=owner), pieces=[0] * len(DENOMINATIONS), actor=owner)
    last = Order.objects.filter(status="success", kind="purchase").latest("pk")
    for number in range(_SALES):
        ref_id, amount = f"BENCH-{number:04d}", last.max_price + 2_000
        payment = Payment.objects.create(ref_id=ref_id, seller=owner, at=clock.now(), amount=amount, sold_in=shift)
        Order.objects.create(
            ref_id=ref_id,
            payment=payment,
            idempotency_key=f"bench-{number}",
            product_id=last.product_id,
            product_code=last.product_code,
            product_name=last.product_name,
            destination=f"0812{number:08d}",
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


def counter_pages(order: Any) -> Iterator[tuple[str, str]]:
    """Their pages, with `order` from the middle of the history: (name, address)."""
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
    complaint = Complaint.objects.open().earliest("pk")
    yield "complaints", complaints
    yield "complaints, all", f"{complaints}?state=all"
    yield "complaints, search", f"{complaints}?q={complaint.order.ref_id}"
    yield "order with a complaint", reverse("order_detail", args=[complaint.order.ref_id])
    refunds = reverse("refund_list")
    yield "refunds", refunds
    refunded = Payment.objects.owed().filter(order__kind="purchase", order__status="reversed").earliest("pk")
    yield "refunds, search", f"{refunds}?q={refunded.ref_id}"
    yield "order with a refund", reverse("order_detail", args=[refunded.ref_id])
    yield "credit", reverse("credit_list")
    account = CreditAccount.objects.earliest("pk")
    yield "credit of a customer", reverse("credit_account", args=[account.customer_id])
    yield "own drawer", reverse("drawer")
    yield "drawers", reverse("drawer_list")
    yield "shifts", reverse("shift_list")
    for name, shift in (
        ("shift, closed", Shift.objects.exclude(closed_at=None)),
        ("shift, open", Shift.objects.filter(closed_at=None)),
    ):
        yield name, reverse("shift_detail", args=[shift.latest("pk").pk])
    yield "close a shift", reverse("shift_close", args=[Shift.objects.latest("pk").pk])
    yield "shifts of the day", reverse("drawer_day", args=[timezone.localdate()])
    yield "selling prices", reverse("prices")
    yield "add a price rule", reverse("price_rule")
