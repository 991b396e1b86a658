"""A way to pay is one row of a table: a new row is everywhere, without a change elsewhere."""

import re
import uuid

import pytest

from credit import methods
from credit.methods import METHODS, Method
from drawers.models import Payment
from drawers.services import close_shift
from purchases.models import Order
from staff.models import User
from testing.factories import make_product
from testing.orders import review
from testing.people import browser_of
from tests.drawers.helpers import begin, end, end_of_day, pieces_of

pytestmark = pytest.mark.django_db(transaction=True)

NUMBER = "081234567890"


@pytest.fixture
def voucher(monkeypatch):
    """A sixth way to pay, which takes the number of a slip."""
    row = Method(code="voucher", words="Voucher of the village", icon="ticket", needs_reference=True)
    monkeypatch.setattr(methods, "METHODS", [*METHODS, row])
    return str(row.words)


@pytest.mark.usefixtures("voucher")
def test_a_sixth_method_is_everywhere(voucher):
    browser = browser_of("cashier")
    shift = begin(User.objects.get(username="cashier"), cash=100_000)
    product = make_product(price=10_000)

    # the review
    shown = review(browser, product, NUMBER).content.decode()
    assert re.search(rf'value="voucher"\s*data-needs="slip"\s*>.*?{voucher}', shown, re.DOTALL)
    fields = {"destination": NUMBER, "price": product.sells_for, "token": uuid.uuid4(), "confirm": "1"}
    fields |= {"product": product.code, "paid_by": "voucher", "paid_reference": "V-77"}
    browser.post("/counter/send/", fields)
    order = end(Order.objects.get(), "success")
    assert Payment.objects.values_list("method", "is_cash", "reference", "sold_in").get() == (
        *("voucher", False, "V-77"),
        shift.pk,
    )

    # the order and its receipt
    page = browser.get(order.get_absolute_url()).content.decode()
    assert 'data-method="voucher"' in page
    assert voucher in page
    assert voucher in browser.get(f"/orders/{order.ref_id}/receipt/").content.decode()

    # the shift, its paper and its file
    for address in (f"/shifts/{shift.pk}/", f"/shifts/{shift.pk}/?paper=80"):
        assert voucher in browser.get(address).content.decode(), address
    file = b"".join(browser.get(f"/shifts/{shift.pk}/csv/").streaming_content).decode()
    assert f"voucher,10000,{order.ref_id},,V-77" in file

    # the day, on its page and in its file
    assert close_shift(shift, pieces=pieces_of(100_000), actor=shift.cashier).difference == 0
    owner, day = browser_of("admin"), end_of_day()
    assert 'data-method="voucher" data-amount="10000"' in owner.get(f"/shifts/days/{day}/").content.decode()
    lines = b"".join(owner.get(f"/shifts/days/{day}/csv/").streaming_content).decode().splitlines()
    names, values = (line.lstrip("\ufeff").split(",") for line in lines)
    assert dict(zip(names, values, strict=True))["sales_voucher"] == "10000"
