"""An order needs action while its customer waits: the seller cancels it, or confirms a rise that the owner allows."""

from typing import Any

import pytest

from catalogue.models import Product
from ledger.models import Books
from policies.models import Policies
from policies.services import forget
from purchases.errors import ActionRefused
from purchases.models import Order, OrderEvent
from purchases.services import cancel_order, send_again, submit
from purchases.services.sending import claim
from purchases.states import ActionReason, Status
from staff.models import User
from testing import orders
from testing.factories import entries_of, make_order, make_product
from testing.orders import at_once
from testing.people import browser_of, make_person
from tests.conftest import Upstream
from tests.core.helpers import codes, has_id, hidden
from tests.ledger.helpers import open_books
from upstream.budget import CallClass

pytestmark = pytest.mark.django_db(transaction=True)

PRICE = 15_000


def allow(rise: int) -> None:
    """Let sellers confirm a rise of so many rupiah."""
    Policies.objects.update_or_create(only=True, defaults={"seller_rise_limit": rise})
    forget()


def held(product: Product, seller: User, *, rise: int = 0, **facts: Any) -> Order:
    """The seller's order, which the upstream refused because it costs `rise` rupiah more by now."""
    facts = {"selling_price": PRICE, "placed_by": seller, "max_price": product.price, **facts}
    order = make_order(Status.NEEDS_ACTION, product=product, action_reason=ActionReason.PRICE_CHANGED, **facts)
    Product.objects.filter(pk=product.pk).update(price=product.price + rise, selling_price=PRICE)
    return order


def test_a_seller_confirms_a_rise_and_it_is_sent_once(upstream: Upstream):
    allow(500)
    browser = browser_of("cashier")
    seller = User.objects.get(pk=browser.session["_auth_user_id"])
    # The shop's catalogue is late: the upstream has asked for more than the confirmed price.
    product = Product.objects.get(name="Telkomsel 10.000")
    now = product.price
    order = held(product, seller, max_price=now - 300)
    page = browser.get("/counter/")
    assert "data-held" in page.content.decode()
    fields = hidden(browser.get(order.get_absolute_url()))
    assert "price" not in fields

    answers = [browser.post(f"/orders/{order.ref_id}/again/", {**fields, "to": "counter"}) for _ in range(2)]
    submit(order.pk, call_class=CallClass.INTERACTIVE)

    assert [answer["Location"] for answer in answers] == ["/counter/"] * 2
    order.refresh_from_db()
    assert (order.status, order.max_price, order.selling_price) == (Status.PENDING, now, PRICE)
    assert order.payment.amount == PRICE
    assert entries_of(order) == [("hold", now), ("release", now), ("debit", now)]
    assert upstream.calls(order) == ["/v1/transaction/create"]
    assert upstream.ledger(order) == [("debit", -now)]
    event = OrderEvent.objects.get(order=order, facts__code="price_confirmed")
    assert (event.actor, event.facts["before"], event.facts["after"]) == (seller, now - 300, now)


def test_beyond_the_limit_or_below_cost_nothing_moves():
    browser = browser_of("cashier")
    seller = User.objects.get(pk=browser.session["_auth_user_id"])
    for allowed, rise, selling_price in ((0, 1, PRICE), (500, 501, PRICE), (90_000, 500, 10_600)):
        allow(allowed)
        order = held(make_product(price=10_500), seller, rise=rise, selling_price=selling_price)
        other = held(make_product(price=10_500), seller, rise=1, destination="081234567891")
        fields = hidden(browser.get(other.get_absolute_url())) if allowed else {"seal": ""}

        page = browser.get(order.get_absolute_url())
        assert not has_id(page, "act-confirm_price"), allowed
        assert has_id(page, "act-cancel"), allowed
        for sent in (fields, {"price": str(10_500 + rise)}):
            assert browser.post(f"/orders/{order.ref_id}/again/", sent).status_code == 302

        order.refresh_from_db()
        assert (order.status, order.max_price) == (Status.NEEDS_ACTION, 10_500), allowed
        assert entries_of(order) == [], allowed
        assert not OrderEvent.objects.filter(order=order).exists(), allowed


def test_a_rise_since_the_page_was_shown_is_confirmed_again():
    allow(500)
    browser = browser_of("cashier")
    seller = User.objects.get(pk=browser.session["_auth_user_id"])
    order = held(make_product(price=10_500), seller, rise=100)
    fields = hidden(browser.get(order.get_absolute_url()))
    Product.objects.filter(pk=order.product_id).update(price=10_700)

    answer = browser.post(f"/orders/{order.ref_id}/again/", fields, follow=True)

    assert codes(answer) == {"PriceMoved", "cancel"}
    assert "10.700" not in answer.content.decode()
    order.refresh_from_db()
    assert (order.status, order.max_price, entries_of(order)) == (Status.NEEDS_ACTION, 10_500, [])


def test_rises_of_one_order_count_together():
    allow(500)
    seller = make_person("cashier")
    order = held(make_product(price=10_500), seller, rise=400)
    send_again(order, actor=seller, max_price=10_900)
    claim(order.pk)
    orders.answer(order, Status.NEEDS_ACTION, action_reason=ActionReason.PRICE_CHANGED)
    Product.objects.filter(pk=order.product_id).update(price=11_001)

    with pytest.raises(ActionRefused):
        send_again(order, actor=seller, max_price=11_001)

    Product.objects.filter(pk=order.product_id).update(price=11_000)
    assert send_again(order, actor=seller, max_price=11_000).max_price == 11_000


def test_nobody_acts_on_the_order_of_another_seller_or_cancels_one_that_may_be_charged():
    allow(500)
    seller, other = (make_person("cashier", username=name) for name in ("siti", "budi"))
    order = held(make_product(price=10_500), seller, rise=100)

    with pytest.raises(ActionRefused):
        send_again(order, actor=other, max_price=10_600)
    with pytest.raises(ActionRefused):
        cancel_order(order, actor=other)

    order.refresh_from_db()
    assert (order.status, entries_of(order)) == (Status.NEEDS_ACTION, [])
    for status in (Status.QUEUED, Status.SENDING, Status.PENDING, Status.UNKNOWN, Status.SUCCESS):
        order = make_order(status, placed_by=seller)
        with pytest.raises(ActionRefused):
            cancel_order(order, actor=seller)
        order.refresh_from_db()
        assert (order.status, entries_of(order)) == (status, [])


def test_a_seller_and_a_supervisor_at_once_decide_it_once():
    allow(500)
    open_books(1_000_000)
    seller, supervisor = make_person("cashier"), make_person("supervisor")
    order = held(make_product(price=10_500), seller, rise=100)

    results = at_once(
        lambda: send_again(order, actor=seller, max_price=10_600),
        lambda: send_again(order, actor=supervisor, max_price=10_600),
        lambda: cancel_order(order, actor=seller),
    )

    order.refresh_from_db()
    confirmed = OrderEvent.objects.filter(order=order, facts__code="price_confirmed").count()
    # An order that is queued again is not charged yet: a supervisor may cancel it, the seller may not.
    assert sum(isinstance(result, Order) for result in results) == 1
    if order.status == Status.QUEUED:
        assert (confirmed, entries_of(order), Books.objects.get().reserved) == (1, [("hold", 10_600)], 10_600)
    else:
        assert (order.status, confirmed, entries_of(order)) == (Status.CANCELLED, 0, [])
        assert Books.objects.get().reserved == 0


def test_a_held_order_is_cancelled_from_the_strip():
    browser = browser_of("cashier")
    seller = User.objects.get(pk=browser.session["_auth_user_id"])
    order = held(make_product(price=10_500), seller, rise=100)
    page = browser.get("/counter/").content.decode()
    assert f"/orders/{order.ref_id}/cancel/" in page
    assert f"/orders/{order.ref_id}/again/" not in page

    answer = browser.post(f"/orders/{order.ref_id}/cancel/", {"to": "counter"})

    order.refresh_from_db()
    assert (answer["Location"], order.status, entries_of(order)) == ("/counter/", Status.CANCELLED, [])
    assert order.payment.is_owed is False


def test_of_an_order_above_the_limit_for_approval_the_seller_confirms_no_rise():
    # given: a second person has approved it for the customer's price; its cost alone is below the limit
    open_books(1_000_000)
    allow(500)
    seller = make_person("cashier", own_approval_above=PRICE - 1)
    order = held(make_product(price=10_000), seller, rise=300)

    with pytest.raises(ActionRefused, match="second person"):
        send_again(order, actor=seller, max_price=10_300)

    order.refresh_from_db()
    assert (order.status, order.max_price, entries_of(order)) == (Status.NEEDS_ACTION, 10_000, [])
    assert cancel_order(order, actor=seller).status == Status.CANCELLED
