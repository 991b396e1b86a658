"""The steps that a person may take on an order, and the steps that nobody may take."""

import pytest

from gateway import line
from purchases import tasks
from purchases.errors import ActionRefused, NotForSale, PriceMoved
from purchases.models import Incident, OrderEvent
from purchases.services import (
    cancel_order,
    close_never_arrived,
    poll_now,
    send_again,
)
from purchases.states import ActionReason, Status
from staff.models import User
from testing.factories import make_order, make_product, moves
from testing.orders import CALLBACK, never_arrived, report
from tests.conftest import Upstream

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin() -> User:
    return User.objects.create_superuser("admin")


def test_only_an_order_certainly_not_charged_can_be_cancelled(admin):
    for status, facts in ((Status.QUEUED, {}), (Status.NEEDS_ACTION, {"action_reason": ActionReason.BALANCE_SHORT})):
        order = make_order(status, **facts)
        assert cancel_order(order, actor=admin, note="customer left").status == Status.CANCELLED
        assert moves(order) == [(status, "cancelled", "staff")]
        assert order.events.get().actor == admin

    for status in (Status.SENDING, Status.PENDING, Status.UNKNOWN, Status.SUCCESS, Status.REJECTED):
        order = make_order(status)
        with pytest.raises(ActionRefused):
            cancel_order(order, actor=admin)
        order.refresh_from_db()
        assert order.status == status


def test_an_order_that_never_arrived_is_closed_not_cancelled(admin, upstream: Upstream):
    order = make_order(Status.NEEDS_ACTION)

    with pytest.raises(ActionRefused):
        cancel_order(order, actor=admin)

    after = close_never_arrived(order, actor=admin, note="nobody has it")
    assert after.status == Status.CLOSED
    assert moves(order) == [("needs_action", "closed", "staff")]
    assert upstream.calls(order) == ["/v1/transaction/status"]

    after = report(order, "success", source=CALLBACK)  # an incident
    assert after.status == Status.CLOSED
    assert Incident.objects.get().kind == Incident.Kind.CONTRADICTION


def test_an_order_queued_again_after_doubt_cannot_be_cancelled(admin, upstream: Upstream):
    order = never_arrived(make_order(Status.UNKNOWN))
    send_again(order, actor=admin)

    with pytest.raises(ActionRefused):
        cancel_order(order, actor=admin)


def test_a_risen_price_is_sent_only_when_confirmed_exactly(admin):
    product = make_product(price=11_000)
    order = make_order(Status.NEEDS_ACTION, product=product, action_reason=ActionReason.PRICE_CHANGED, max_price=10_500)

    for confirmed in (None, 10_900, 12_000):
        with pytest.raises(PriceMoved) as refusal:
            send_again(order, actor=admin, max_price=confirmed)
        assert refusal.value.price == 11_000

    after = send_again(order, actor=admin, max_price=11_000)
    assert (after.status, after.max_price) == ("queued", 11_000)
    event = OrderEvent.objects.get()
    assert (event.actor, event.facts) == (admin, {"code": "price_confirmed", "before": 10_500, "after": 11_000})


def test_only_an_order_that_needs_action_is_sent_again_and_no_delisted_product(admin):
    for status in (Status.UNKNOWN, Status.PENDING, Status.SUCCESS, Status.CANCELLED):
        order = make_order(status, destination=f"0812{status!s:0>8}")
        with pytest.raises(ActionRefused):
            send_again(order, actor=admin)

    product = make_product(is_listed=False)
    order = make_order(Status.NEEDS_ACTION, product=product, action_reason=ActionReason.UNAVAILABLE)
    with pytest.raises(NotForSale):
        send_again(order, actor=admin)


def test_a_never_arrived_order_is_not_decided_without_upstream_and_no_other_is_closed(admin):
    order = make_order(Status.NEEDS_ACTION, action_reason=ActionReason.NEVER_ARRIVED)

    for decide in (close_never_arrived, send_again):
        with pytest.raises(ActionRefused, match=r"(?i)upstream|provider"):
            decide(order, actor=admin)

    order.refresh_from_db()
    assert order.status == Status.NEEDS_ACTION
    assert order.next_poll_at is not None
    for reason in (ActionReason.BALANCE_SHORT, ActionReason.CUT_OFF, ActionReason.UNAVAILABLE):
        order = make_order(Status.NEEDS_ACTION, action_reason=reason)
        with pytest.raises(ActionRefused):
            close_never_arrived(order, actor=admin)


def test_asking_now_makes_an_open_order_due_and_refuses_a_final(admin):
    while line.take_first():
        pass  # what other tests left there
    order = make_order(Status.UNKNOWN)
    assert poll_now(order, actor=admin) is True
    work, _trace = line.take_first()
    assert (work.task, work.pk) == (tasks.poll_by_hand.name, order.pk)

    with pytest.raises(ActionRefused):
        poll_now(make_order(Status.SUCCESS, destination="081200000000"), actor=admin)
