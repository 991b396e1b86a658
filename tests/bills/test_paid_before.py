"""A bill that includes a paid month is not paid again, also if the biller has added something."""

import datetime as dt

import pytest
from django.utils import timezone

from bills import services
from bills.errors import AlreadyPaid
from bills.models import BillCheck
from bills.states import Standing
from catalogue.models import Product
from purchases.models import Order
from purchases.states import Status
from testing.factories import make_biller, make_check, make_payment
from tests.bills.helpers import read

pytestmark = pytest.mark.django_db


def billed(product: Product, *months: str, **facts: object) -> BillCheck:
    """A check of a bill for these months; the biller names the first and the last."""
    details = [{"period": month, "amount": 100_000, "penalty": 0} for month in months]
    period = f"{months[0]} – {months[-1]}" if len(months) > 1 else "".join(months)
    return make_check(product=product, **{"details": details, "period": period, **facts})


def paid(check: BillCheck, *, ago: dt.timedelta = dt.timedelta(0), status: Status = Status.SUCCESS) -> Order:
    order = make_payment(check, status)
    Order.objects.filter(pk=order.pk).update(final_at=timezone.now() - ago)
    return order


def stands(check: BillCheck) -> tuple[str | None, str]:
    """The payment that has paid a month of the bill, and the check's standing."""
    fresh = read(check)
    return fresh.paid_ref, fresh.now_standing


def test_a_bill_that_shares_a_paid_month_is_refused_and_the_next_months_is_payable():
    biller = make_biller()
    order = paid(billed(biller, "Okt 2026", "Nov 2026"))

    for months in (("Nov 2026", "Des 2026"), ("Okt 2026",)):
        check = billed(biller, *months)

        assert stands(check) == (order.ref_id, Standing.PAID_BEFORE), months
        with pytest.raises(AlreadyPaid, match=order.ref_id):
            services.pay_bill(check, amount=check.total, paid_by=None, enqueue=False)
    assert Order.objects.count() == 1
    assert stands(billed(biller, "Des 2026")) == (None, Standing.PAYABLE)


SAME = [
    ({"details": [], "period": "Tagihan"}, {"details": [], "period": "Tagihan"}, True),
    ({"details": [], "period": "Tagihan"}, {"details": [], "period": "Lain"}, False),
    ({"details": [], "period": "Nov 2026"}, {"details": [{"period": "Nov 2026"}], "period": "x"}, True),
    (
        {"details": [{"period": "Nov 2026"}], "period": "same"},
        {"details": [{"period": "Des"}], "period": "same"},
        False,
    ),
    ({"details": [{"period": ""}], "period": "Nov 2026"}, {"details": [], "period": "Nov 2026"}, True),
    ({"details": [], "period": ""}, {"details": [], "period": ""}, False),
    ({"details": [{"period": ""}], "period": ""}, {"details": [{"period": ""}], "period": ""}, False),
]


def test_a_bill_without_months_is_known_by_its_period():
    for before, now, is_same in SAME:
        biller = make_biller()
        order = paid(make_check(product=biller, **before))

        check = make_check(product=biller, **now)

        expected = (order.ref_id, Standing.PAID_BEFORE) if is_same else (None, Standing.PAYABLE)
        assert stands(check) == expected, (before, now)


def test_the_same_label_weeks_later_is_another_bill():
    for days, is_same in ((24, True), (26, False)):
        biller = make_biller()
        order = paid(billed(biller, "Tagihan"), ago=dt.timedelta(days=days))

        check = billed(biller, "Tagihan")

        expected = (order.ref_id, Standing.PAID_BEFORE) if is_same else (None, Standing.PAYABLE)
        assert stands(check) == expected, days


def test_a_payment_that_did_not_succeed_has_paid_no_month():
    for status in (Status.FAILED, Status.REJECTED, Status.CANCELLED):
        biller = make_biller()
        paid(billed(biller, "Nov 2026"), status=status)
        assert stands(billed(biller, "Nov 2026")) == (None, Standing.PAYABLE), status


def test_another_customers_or_billers_payment_does_not_count():
    biller = make_biller()
    paid(billed(biller, "Nov 2026", destination="9999999999"))
    paid(billed(make_biller(name="PDAM Lain"), "Nov 2026"))

    assert stands(billed(biller, "Nov 2026")) == (None, Standing.PAYABLE)
