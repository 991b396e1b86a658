"""From the queue to the true outcome, for all faults of the upstream: charged at most once, never called failed in
doubt.

The upstream is the sandbox, over real HTTP; each magic destination has one documented behaviour.
"""

from datetime import timedelta

import pytest
from django.utils import timezone

from catalogue.services import sync_catalogue
from purchases.errors import ActionRefused, PriceMoved
from purchases.models import Incident, Order
from purchases.services import cancel_order, close_never_arrived, poll, send_again, submit
from purchases.services.polling import follow
from purchases.services.sending import claim
from purchases.states import ActionReason, Status
from testing.factories import moves
from tests.conftest import Upstream
from tests.core.helpers import words
from tests.purchases.magic import ask, buy, ended, place
from upstream import requests
from upstream.budget import CallClass
from upstream.client import get_client
from upstream.endpoints import Endpoint

CREATE = "/v1/transaction/create"
INTERACTIVE, BACKGROUND = CallClass.INTERACTIVE, CallClass.BACKGROUND


def test_an_accepted_order_ends_in_success_with_its_sn(upstream: Upstream):
    order = buy(1)

    assert (order.status, order.price, order.error_code) == ("success", order.max_price, "")
    assert order.sn
    assert order.trx_id
    assert moves(order) == [
        ("", "queued", "staff"),
        ("queued", "sending", "submit"),
        ("sending", "pending", "submit"),
        ("pending", "success", "poll"),
    ]
    assert upstream.ledger(order) == [("debit", -order.price)]
    assert upstream.calls(order, "create") == [CREATE]


def test_a_lost_or_strange_answer_is_unknown_until_status_says(upstream: Upstream):
    # the answer is cut, hangs, is a 500, is broken, is about another ref, names a price that is no whole number
    placed = [place(number) for number in (5, 6, 7, 8, 9, 10)]
    for order in placed:
        submit(order.pk, call_class=INTERACTIVE)
        order.refresh_from_db()
        assert order.status == Status.UNKNOWN, order.destination

    for order in [follow(order, seconds=10) for order in placed]:
        assert order.status == Status.SUCCESS, order.destination
        assert [to for _, to, _ in moves(order)[:3]] == ["queued", "sending", "unknown"], order.destination
        assert upstream.ledger(order) == [("debit", -order.price)], order.destination
        assert upstream.calls(order, "create") == [CREATE], order.destination


def test_what_never_arrived_needs_action_after_the_grace_period(upstream: Upstream, settings, admin):
    for number, words_said in ((11, ""), (25, "Something new happened.")):  # cut before it arrived; an unknown code
        settings.ORDER_NOT_FOUND_GRACE_SECONDS = 3600.0
        order = place(number)
        submit(order.pk, call_class=INTERACTIVE)
        order.refresh_from_db()
        assert order.status == Status.UNKNOWN, number
        assert words_said in words(admin.get(order.get_absolute_url())), number
        order = ask(order, times=settings.ORDER_NOT_FOUND_ANSWERS + 1)
        assert order.status == Status.UNKNOWN, number
        assert order.not_found_count == settings.ORDER_NOT_FOUND_ANSWERS + 1, number

        settings.ORDER_NOT_FOUND_GRACE_SECONDS = 0.0
        order = ask(order, times=1)

        assert (order.status, order.action_reason) == ("needs_action", ActionReason.NEVER_ARRIVED), number
        assert upstream.ledger(order) == [], number
        assert upstream.calls(order, "create") == [CREATE], number


def test_a_few_answers_are_not_enough_however_old(upstream: Upstream, settings):
    settings.ORDER_NOT_FOUND_GRACE_SECONDS = 0.0
    settings.ORDER_NOT_FOUND_ANSWERS = 4

    order = buy(11, wait=0)

    assert ask(order, times=3).status == Status.UNKNOWN
    assert ask(order, times=1).status == Status.NEEDS_ACTION


def test_an_order_that_arrives_late_after_not_found_succeeds(upstream: Upstream):
    order = buy(12, wait=10)

    assert order.status == Status.SUCCESS
    assert order.not_found_count >= 1
    assert upstream.ledger(order) == [("debit", -order.price)]
    assert upstream.calls(order, "create") == [CREATE]


def test_a_refusal_with_the_balance_untouched_needs_action_or_rejects_the_order(upstream: Upstream):
    for number, status, reason, code in (
        (19, "needs_action", ActionReason.PRICE_CHANGED, "PRICE_CHANGED"),
        (20, "needs_action", ActionReason.BALANCE_SHORT, "INSUFFICIENT_BALANCE"),
        (21, "needs_action", ActionReason.CUT_OFF, "CUT_OFF"),
        (22, "needs_action", ActionReason.UNAVAILABLE, "PRODUCT_UNAVAILABLE"),
        (23, "rejected", "", "INVALID_DESTINATION"),
    ):
        order = buy(number)

        assert (order.status, order.action_reason, order.error_code) == (status, reason, code)
        assert upstream.ledger(order) == [], code
        assert upstream.calls(order) == [CREATE], code


def test_an_order_long_pending_stays_pending(upstream: Upstream):
    order = ask(buy(3, wait=0), times=3)

    assert order.status == Status.PENDING
    assert upstream.ledger(order) == [("debit", -order.price)]

    upstream.control("settle", ref_id=order.ref_id, status="failed")
    assert ask(order, times=1).status == Status.FAILED
    assert upstream.ledger(order) == [("debit", -order.price), ("refund", order.price)]
    assert upstream.calls(order, "create") == [CREATE]


def test_an_order_is_resent_with_its_ref_id_after_a_top_up_or_a_confirmed_price(upstream: Upstream, django_user_model):
    admin = django_user_model.objects.create_superuser("admin")
    short = buy(20)
    upstream.control("topup", amount=1_000_000)
    send_again(short, actor=admin)
    submit(short.pk, call_class=INTERACTIVE)

    risen = buy(19)
    sync_catalogue()
    risen.product.refresh_from_db()
    with pytest.raises(PriceMoved):
        send_again(risen, actor=admin)
    send_again(risen, actor=admin, max_price=risen.product.price)
    submit(risen.pk, call_class=INTERACTIVE)

    for order, price in (
        (follow(short, seconds=10), short.max_price),
        (follow(risen, seconds=10), risen.product.price),
    ):
        assert (order.status, order.price) == ("success", price)
        assert upstream.ledger(order) == [("debit", -price)]
        assert upstream.calls(order, "create") == [CREATE, CREATE]


def test_a_never_arrived_order_resent_by_ref_id_is_charged_once(upstream: Upstream, settings, django_user_model):
    settings.ORDER_NOT_FOUND_GRACE_SECONDS = 0.0
    order = ask(buy(11, wait=0), times=settings.ORDER_NOT_FOUND_ANSWERS)
    assert order.status == Status.NEEDS_ACTION

    send_again(order, actor=django_user_model.objects.create_superuser("admin"))
    submit(order.pk, call_class=INTERACTIVE)

    assert follow(order, seconds=10).status == Status.SUCCESS
    assert upstream.ledger(order) == [("debit", -order.max_price)]


def test_an_order_whose_sender_died_is_only_asked_about(upstream: Upstream, settings):
    """The claim was committed and the process killed before a byte was written."""
    settings.UPSTREAM_READ_TIMEOUT = 60.0
    order = place(1)
    claim(order.pk)
    assert ask(order, times=1).status == Status.SENDING, "it may be under way"
    Order.objects.filter(pk=order.pk).update(sent_at=timezone.now() - timedelta(minutes=2))

    order = ask(order, times=1)

    assert order.status == Status.UNKNOWN
    assert upstream.calls(order, "create") == []
    assert upstream.ledger(order) == []


def test_a_price_above_the_confirmed_one_is_never_charged_and_a_queued_order_is_not_asked_about(upstream: Upstream):
    order = place(1)
    poll(order.pk, call_class=BACKGROUND)
    assert upstream.calls(order) == []
    upstream.control("product", product_code=order.product_code, price=order.max_price + 1)

    submit(order.pk, call_class=INTERACTIVE)

    order.refresh_from_db()
    assert (order.status, order.action_reason) == ("needs_action", ActionReason.PRICE_CHANGED)
    assert upstream.ledger(order) == []


def test_a_status_lost_once_accepted_is_an_incident_and_pending(upstream: Upstream):
    order = buy(3, wait=0)
    upstream.control("reset")

    assert ask(order, times=1).status == Status.PENDING
    assert Incident.objects.get().kind == Incident.Kind.LOST_AFTER_ACCEPTANCE


def test_a_late_arrival_is_noticed_after_never_arrived(upstream: Upstream, settings, django_user_model):
    """The callback is lost, and a person is about to close the order: a poll comes first."""
    settings.ORDER_NOT_FOUND_GRACE_SECONDS = 0.0
    order = ask(buy(11, wait=0), times=settings.ORDER_NOT_FOUND_ANSWERS)
    assert (order.status, order.action_reason) == ("needs_action", ActionReason.NEVER_ARRIVED)
    assert order.next_poll_at is not None
    get_client().send(  # the lost request arrives late
        requests.create_transaction(
            ref_id=order.ref_id,
            product_code=order.product_code,
            destination=order.destination,
            max_price=order.max_price,
        ),
        get_client().reserve(Endpoint.TRANSACTION_CREATE, call_class=INTERACTIVE),
    )

    with pytest.raises(ActionRefused):
        close_never_arrived(order, actor=django_user_model.objects.create_superuser("admin"))

    assert ended(order).status == Status.SUCCESS
    assert upstream.ledger(order) == [("debit", -order.max_price)]


def test_an_order_in_doubt_refused_again_cannot_be_cancelled(upstream: Upstream, django_user_model):
    admin = django_user_model.objects.create_superuser("admin")
    order = place(21)  # refused with CUT_OFF, always
    Order.objects.filter(pk=order.pk).update(attempt=1, sent_no=1)

    submit(order.pk, call_class=INTERACTIVE)

    order.refresh_from_db()
    assert (order.status, order.error_code) == ("unknown", "CUT_OFF")
    with pytest.raises(ActionRefused):
        cancel_order(order, actor=admin)
