"""The acts that an order's page offers by right, and their results."""

import pytest
from django.utils import timezone

from ledger.models import Books
from purchases.models import Incident, Order
from purchases.states import ActionReason, Status
from testing.factories import make_order, make_product
from testing.people import browser_of
from tests.core.helpers import codes, words
from tests.purchases.helpers import detail, offered

pytestmark = pytest.mark.django_db


def test_each_reason_to_act_offers_what_can_be_done(admin):
    for reason in list(ActionReason):
        order = make_order(Status.NEEDS_ACTION, action_reason=reason)

        page = detail(admin, order)

        assert str(reason.label) in words(page), reason
        arrived = {"send_again", "cancel"}
        never = {"send_again", "close", "poll", "propose_verdict"}
        assert offered(page) == (never if reason == ActionReason.NEVER_ARRIVED else arrived), reason


def test_the_cashier_who_placed_it_confirms_a_rise_or_cancels():
    own, other = browser_of("cashier", username="siti"), browser_of("cashier", username="budi")
    product = make_product(price=10_500)
    order = make_order(Status.NEEDS_ACTION, product=product, action_reason=ActionReason.PRICE_CHANGED)
    Order.objects.filter(pk=order.pk).update(placed_by=own.session["_auth_user_id"])
    product.price = 11_000
    product.save()

    assert offered(detail(own, order)) == {"confirm_price", "cancel"}
    assert offered(detail(other, order)) == set()
    own.post(f"/orders/{order.ref_id}/again/", {"price": "11000"})

    order.refresh_from_db()
    assert (order.status, order.max_price) == (Status.QUEUED, 11_000)


def test_sending_again_is_offered_only_when_enough_is_available(admin):
    order = make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT)

    for balance, expected in ((10_499, {"cancel"}), (10_500, {"cancel", "send_again"})):
        Books.objects.update_or_create(only=True, defaults={"balance": balance, "opened_at": timezone.now()})
        assert offered(detail(admin, order)) == expected


def test_an_order_is_sent_again_under_the_same_ref_id(admin):
    order = make_order(Status.NEEDS_ACTION, action_reason=ActionReason.CUT_OFF)

    admin.post(f"/orders/{order.ref_id}/again/")

    before = order.ref_id
    order.refresh_from_db()
    assert (order.status, order.ref_id, order.action_reason) == (Status.QUEUED, before, "")
    assert order.next_poll_at is not None


def test_a_risen_price_can_be_fetched_and_is_not_confirmed_by_an_old_button(admin):
    product = make_product(price=10_500)
    order = make_order(Status.NEEDS_ACTION, product=product, action_reason=ActionReason.PRICE_CHANGED)

    page = detail(admin, order).content.decode()
    answer = admin.post("/overview/catalogue/", {"next": f"/orders/{order.ref_id}/"})
    assert 'action="/overview/catalogue/"' in page
    assert answer["Location"] == f"/orders/{order.ref_id}/"

    product.price = 12_000
    product.save()
    answer = admin.post(f"/orders/{order.ref_id}/again/", {"price": "11000"}, follow=True)
    assert "Rp12.000" in words(answer)
    order.refresh_from_db()
    assert order.status == Status.NEEDS_ACTION


def test_a_cancelled_order_keeps_the_reason_and_one_that_moved_on_is_left(admin):
    order, moved_on = make_order(Status.QUEUED), make_order(Status.PENDING)

    admin.post(f"/orders/{order.ref_id}/cancel/", {"note": "customer left"})
    answer = admin.post(f"/orders/{moved_on.ref_id}/cancel/", follow=True)

    order.refresh_from_db()
    assert order.status == Status.CANCELLED
    assert "customer left" in words(detail(admin, order))
    assert "ActionRefused" in codes(answer)
    assert f"“{Status.PENDING.label}”" in words(answer)
    moved_on.refresh_from_db()
    assert moved_on.status == Status.PENDING
    assert admin.post(f"/orders/{order.ref_id}/explode/").status_code == 404


def test_what_never_arrived_can_be_closed(upstream, admin):
    order = make_order(Status.NEEDS_ACTION)

    admin.post(f"/orders/{order.ref_id}/close/", {"note": "refunded in cash"})

    order.refresh_from_db()
    assert order.status == Status.CLOSED


def test_closing_an_incident_needs_a_finding(admin):
    order = make_order(Status.SUCCESS)
    incident = Incident.objects.create(order=order, kind="contradiction", source="callback", detail="failed is said")
    url = f"/orders/{order.ref_id}/incidents/{incident.pk}/close/"

    page = detail(admin, order)
    assert "failed is said" in words(page)
    assert "write down here what they say" in words(page)
    admin.post(url, {"note": "  "})
    incident.refresh_from_db()
    assert incident.closed_at is None

    answers = [admin.post(url, {"note": note}, follow=True) for note in ("Their mistake, see mail.", "twice")]
    assert ["ActionRefused" in codes(answer) for answer in answers] == [False, True]
    incident.refresh_from_db()
    assert (incident.closing_note, incident.closed_by.username) == ("Their mistake, see mail.", "admin")
