"""What a person may do about an order, and what nobody may."""

import pytest

from purchases.errors import NotForSale, NotPossible, PriceMoved
from purchases.models import Incident, OrderEvent
from purchases.order_life import HoldReason, Status
from purchases.services import (
    Outcome,
    apply_outcome,
    cancel_order,
    check_now,
    close_incident,
    close_never_arrived,
    send_again,
)
from staff.models import User
from tests.conftest import Upstream
from tests.factories import make_order, make_product, moves, reported

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> User:
    return User.objects.create_user("admin")


@pytest.mark.parametrize(
    ("status", "facts"), [(Status.QUEUED, {}), (Status.HELD, {"hold_reason": HoldReason.BALANCE_SHORT})]
)
def test_an_order_that_certainly_was_not_charged_can_be_cancelled(admin, status, facts):
    order = make_order(status, **facts)

    after = cancel_order(order, actor=admin, note="customer left")

    assert after.status == Status.CANCELLED
    assert moves(order) == [(status, "cancelled", "staff")]
    assert OrderEvent.objects.get().actor == admin


@pytest.mark.parametrize("status", [Status.SENDING, Status.PENDING, Status.UNKNOWN, Status.SUCCESS, Status.REJECTED])
def test_an_order_that_may_be_charged_cannot_be_cancelled(admin, status):
    order = make_order(status)

    with pytest.raises(NotPossible):
        cancel_order(order, actor=admin)

    order.refresh_from_db()
    assert order.status == status


def test_an_order_that_seems_never_to_have_arrived_is_closed_not_cancelled(admin, upstream: Upstream):
    order = make_order(Status.HELD, hold_reason=HoldReason.NEVER_ARRIVED)

    with pytest.raises(NotPossible):
        cancel_order(order, actor=admin)

    assert close_never_arrived(order, actor=admin).status == Status.FAILED


def test_an_order_queued_again_after_doubt_cannot_be_cancelled(admin, upstream: Upstream):
    order = make_order(Status.UNKNOWN)
    never = Outcome(status=Status.HELD, hold_reason=HoldReason.NEVER_ARRIVED)
    OrderEvent.objects.create(order=order, from_status="sending", to_status="unknown", source="submit")
    apply_outcome(order.pk, never, source=OrderEvent.Source.POLL, attempt=1)
    send_again(order, actor=admin)

    with pytest.raises(NotPossible):
        cancel_order(order, actor=admin)


def test_what_is_reported_after_a_close_is_an_incident(admin, upstream: Upstream):
    order = make_order(Status.HELD, hold_reason=HoldReason.NEVER_ARRIVED)
    close_never_arrived(order, actor=admin)

    apply_outcome(order.pk, Outcome.reported(reported(order), raw=None), source=OrderEvent.Source.CALLBACK)

    order.refresh_from_db()
    assert order.status == Status.FAILED
    assert Incident.objects.get().kind == Incident.Kind.CONTRADICTION


@pytest.mark.parametrize("reason", [HoldReason.BALANCE_SHORT, HoldReason.CUT_OFF, HoldReason.DISTURBED])
def test_an_order_held_for_anything_else_is_never_closed_as_failed(admin, reason):
    order = make_order(Status.HELD, hold_reason=reason)

    with pytest.raises(NotPossible):
        close_never_arrived(order, actor=admin)


def test_sending_again_keeps_the_ref_id(admin):
    order = make_order(Status.HELD, hold_reason=HoldReason.BALANCE_SHORT)

    after = send_again(order, actor=admin)

    assert (after.status, after.ref_id, after.hold_reason) == ("queued", order.ref_id, "")
    assert after.next_check_at is not None


def test_a_risen_price_is_sent_only_when_a_person_confirmed_just_that_price(admin):
    product = make_product(price=11_000)
    order = make_order(Status.HELD, product=product, hold_reason=HoldReason.PRICE_CHANGED, max_price=10_500)

    for confirmed in (None, 10_900, 12_000):
        with pytest.raises(PriceMoved) as refusal:
            send_again(order, actor=admin, max_price=confirmed)
        assert refusal.value.price == 11_000

    after = send_again(order, actor=admin, max_price=11_000)
    assert (after.status, after.max_price) == ("queued", 11_000)


def test_a_product_that_vanished_is_not_sent_again(admin):
    product = make_product(is_listed=False)
    order = make_order(Status.HELD, product=product, hold_reason=HoldReason.DISTURBED)

    with pytest.raises(NotForSale):
        send_again(order, actor=admin)


def test_only_a_held_order_is_sent_again(admin):
    for status in (Status.UNKNOWN, Status.PENDING, Status.SUCCESS, Status.CANCELLED):
        order = make_order(status, destination=f"0812{status!s:0>8}")
        with pytest.raises(NotPossible):
            send_again(order, actor=admin)


def test_nothing_is_decided_about_a_never_arrived_order_while_the_upstream_cannot_be_asked(admin):
    order = make_order(Status.HELD, hold_reason=HoldReason.NEVER_ARRIVED)

    for decide in (close_never_arrived, send_again):
        with pytest.raises(NotPossible, match=r"(?i)upstream|pemasok"):
            decide(order, actor=admin)

    order.refresh_from_db()
    assert order.status == Status.HELD
    assert order.next_check_at is not None


def test_asking_now_makes_the_order_due_and_needs_something_to_ask_about(admin):
    order = make_order(Status.UNKNOWN)
    assert check_now(order, actor=admin) is True

    with pytest.raises(NotPossible):
        check_now(make_order(Status.SUCCESS, destination="081200000000"), actor=admin)


def test_an_incident_is_closed_once_with_a_finding(admin):
    order = make_order(Status.SUCCESS)
    incident = Incident.objects.create(order=order, kind="contradiction", source="callback", detail="x")

    close_incident(incident, actor=admin, note="the provider confirmed the SN by phone")

    incident.refresh_from_db()
    assert incident.closed_by == admin
    with pytest.raises(NotPossible):
        close_incident(incident, actor=admin, note="again")
