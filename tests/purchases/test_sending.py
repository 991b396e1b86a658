"""From the queue to the true outcome, whatever the upstream does: charged at most once, never called failed in doubt.

The upstream is the sandbox, over real HTTP; each magic destination makes it behave in one documented way.
"""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from catalogue.models import Product
from catalogue.services import sync_catalogue
from gateway.line import Work
from gateway.services import read_balance, sending_is_stopped, upstream_account
from purchases import tasks
from purchases.errors import ActionRefused
from purchases.models import Incident, Order
from purchases.services import DUE_ORDERS, cancel_order, close_never_arrived, place_order, poll, send_again, submit
from purchases.services.following import follow
from purchases.services.sending import claim
from purchases.states import ActionReason, Status
from tests.conftest import Upstream
from tests.factories import moves
from upstream import requests
from upstream.budget import CallClass
from upstream.client import get_client
from upstream.endpoints import Endpoint
from upstream.errors import ErrorCode, Misconfigured, Rejected

CREATE, STATUS = "/v1/transaction/create", "/v1/transaction/status"
INTERACTIVE, BACKGROUND = CallClass.INTERACTIVE, CallClass.BACKGROUND


def place(number: int, *, name: str = "Telkomsel 10.000") -> Order:
    """A queued order for magic destination `number`."""
    product = Product.objects.get(name=name)
    return place_order(
        product=product,
        destination=f"0812900000{number:02d}",
        max_price=product.price,
        idempotency_key=str(uuid.uuid4()),
        placed_by=None,
        enqueue=False,
    )


def buy(number: int, *, wait: float = 5.0) -> Order:
    """Place, send, and follow for `wait` seconds without any callback: what the commands do."""
    order = place(number)
    submit(order.pk, call_class=INTERACTIVE)
    return follow(order, seconds=wait)


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


def test_a_failed_order_is_refunded_by_the_upstream(upstream: Upstream):
    order = buy(4)

    assert order.status == Status.FAILED
    assert upstream.ledger(order) == [("debit", -order.price), ("refund", order.price)]
    assert upstream.calls(order, "create") == [CREATE]


@pytest.mark.parametrize("number", [5, 6, 7, 8, 9, 10], ids=["cut", "hang", "500", "broken", "other ref", "float"])
def test_a_lost_or_strange_answer_is_unknown_until_status_says(upstream: Upstream, number: int):
    order = place(number)

    submit(order.pk, call_class=INTERACTIVE)

    order.refresh_from_db()
    assert order.status == Status.UNKNOWN
    order = follow(order, seconds=10)
    assert order.status == Status.SUCCESS
    assert [to for _, to, _ in moves(order)[:3]] == ["queued", "sending", "unknown"]
    assert upstream.ledger(order) == [("debit", -order.price)]
    assert upstream.calls(order, "create") == [CREATE]


@pytest.mark.parametrize("number", [11, 25], ids=["cut before", "unknown code"])
def test_what_never_arrived_needs_action_after_the_grace_period(upstream: Upstream, settings, number: int):
    settings.ORDER_NOT_FOUND_GRACE_SECONDS = 3600.0
    order = buy(number, wait=3)
    assert order.status == Status.UNKNOWN
    assert order.not_found_count >= 3

    settings.ORDER_NOT_FOUND_GRACE_SECONDS = 0.5
    order = follow(order, seconds=10)

    assert (order.status, order.action_reason) == ("held", ActionReason.NEVER_ARRIVED)
    assert upstream.ledger(order) == []
    assert upstream.calls(order, "create") == [CREATE]


def test_a_few_answers_are_not_enough_however_old(upstream: Upstream, settings):
    settings.ORDER_NOT_FOUND_GRACE_SECONDS = 0.0
    settings.ORDER_NOT_FOUND_ANSWERS = 1000

    order = buy(11, wait=2)

    assert order.status == Status.UNKNOWN


def test_an_order_that_arrives_late_after_not_found_succeeds(upstream: Upstream):
    order = buy(12, wait=10)

    assert order.status == Status.SUCCESS
    assert order.not_found_count >= 1
    assert upstream.ledger(order) == [("debit", -order.price)]
    assert upstream.calls(order, "create") == [CREATE]


@pytest.mark.parametrize(
    ("number", "reason", "code"),
    [
        (19, ActionReason.PRICE_CHANGED, "PRICE_CHANGED"),
        (20, ActionReason.BALANCE_SHORT, "INSUFFICIENT_BALANCE"),
        (21, ActionReason.CUT_OFF, "CUT_OFF"),
        (22, ActionReason.UNAVAILABLE, "PRODUCT_UNAVAILABLE"),
    ],
)
def test_a_refusal_with_the_balance_untouched_needs_action(upstream: Upstream, number, reason, code):
    order = buy(number)

    assert (order.status, order.action_reason, order.error_code) == ("held", reason, code)
    assert upstream.ledger(order) == []
    assert upstream.calls(order) == [CREATE]


def test_an_invalid_destination_rejects_the_order(upstream: Upstream):
    order = buy(23)

    assert (order.status, order.error_code) == ("rejected", "INVALID_DESTINATION")
    assert upstream.ledger(order) == []
    assert upstream.calls(order) == [CREATE]


def test_a_429_is_waited_out_and_the_same_request_sent_again(upstream: Upstream):
    order = buy(24, wait=15)

    assert order.status == Status.SUCCESS
    assert [to for _, to, _ in moves(order)] == ["queued", "sending", "queued", "sending", "pending", "success"]
    assert upstream.ledger(order) == [("debit", -order.price)]
    assert upstream.calls(order, "create") == [CREATE, CREATE]


def test_an_order_long_pending_stays_pending(upstream: Upstream):
    order = buy(3, wait=1)

    assert order.status == Status.PENDING
    assert upstream.ledger(order) == [("debit", -order.price)]

    upstream.control("settle", ref_id=order.ref_id, status="failed")
    assert follow(order, seconds=10).status == Status.FAILED
    assert upstream.ledger(order) == [("debit", -order.price), ("refund", order.price)]


def test_an_order_is_resent_with_its_ref_id_after_a_top_up(upstream: Upstream, django_user_model):
    order = buy(20)
    upstream.control("topup", amount=1_000_000)

    send_again(order, actor=django_user_model.objects.create_superuser("admin"))
    submit(order.pk, call_class=INTERACTIVE)

    assert follow(order, seconds=10).status == Status.SUCCESS
    assert upstream.ledger(order) == [("debit", -order.max_price)]
    assert upstream.calls(order, "create") == [CREATE, CREATE]


def test_a_risen_price_is_paid_only_after_a_person_confirmed_it(upstream: Upstream, django_user_model):
    order = buy(19)
    assert order.action_reason == ActionReason.PRICE_CHANGED
    sync_catalogue()
    order.product.refresh_from_db()

    send_again(order, actor=django_user_model.objects.create_superuser("admin"), max_price=order.product.price)
    submit(order.pk, call_class=INTERACTIVE)

    order = follow(order, seconds=10)
    assert (order.status, order.price) == ("success", order.product.price)
    assert upstream.ledger(order) == [("debit", -order.price)]


def test_a_never_arrived_order_resent_by_ref_id_is_charged_once(upstream: Upstream, settings, django_user_model):
    settings.ORDER_NOT_FOUND_GRACE_SECONDS = 0.2
    order = buy(11, wait=15)
    assert order.status == Status.NEEDS_ACTION

    send_again(order, actor=django_user_model.objects.create_superuser("admin"))
    submit(order.pk, call_class=INTERACTIVE)

    assert follow(order, seconds=10).status == Status.SUCCESS
    assert upstream.ledger(order) == [("debit", -order.max_price)]


def test_wrong_credentials_stop_all_sending_until_right_again(upstream: Upstream, settings):
    right = settings.UPSTREAM_SECRET_KEY
    settings.UPSTREAM_SECRET_KEY = "not-the-key"
    get_client().budget.declare_fresh()
    first, second = place(1), place(2)

    submit(first.pk, call_class=INTERACTIVE)
    submit(second.pk, call_class=INTERACTIVE)

    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.status, second.status) == ("queued", "queued")
    assert upstream_account().refused_code == "INVALID_SIGNATURE"
    assert upstream.calls(second) == []
    with pytest.raises(Misconfigured):
        read_balance()

    settings.UPSTREAM_SECRET_KEY = right
    read_balance()
    assert not sending_is_stopped()
    submit(first.pk, call_class=INTERACTIVE)
    assert follow(first, seconds=10).status == Status.SUCCESS
    assert upstream.ledger(first) == [("debit", -first.max_price)]


def test_an_upstream_out_of_reach_leaves_the_order_queued(upstream: Upstream, settings):
    there = settings.UPSTREAM_BASE_URL
    settings.UPSTREAM_BASE_URL = "http://127.0.0.1:9"
    get_client().budget.declare_fresh()
    order = place(1)

    submit(order.pk, call_class=INTERACTIVE)

    order.refresh_from_db()
    assert order.status == Status.QUEUED
    assert upstream_account().unreachable_since is not None

    settings.UPSTREAM_BASE_URL = there
    submit(order.pk, call_class=INTERACTIVE)
    assert follow(order, seconds=10).status == Status.SUCCESS
    assert upstream_account().unreachable_since is None
    assert upstream.ledger(order) == [("debit", -order.max_price)]


def test_a_submit_message_that_comes_twice_sends_once(upstream: Upstream):
    order = place(3)

    for _ in range(3):
        submit(order.pk, call_class=INTERACTIVE)

    assert upstream.calls(order) == [CREATE]


def test_an_order_whose_sender_died_is_only_asked_about(upstream: Upstream):
    """The claim was committed and the process killed before a byte was written."""
    order = place(1)
    claim(order.pk)

    order = follow(order, seconds=3)

    assert order.status == Status.UNKNOWN
    assert upstream.calls(order, "create") == []
    assert upstream.ledger(order) == []


def test_a_price_above_the_confirmed_one_is_never_charged(upstream: Upstream):
    order = place(1)
    upstream.control("product", product_code=order.product_code, price=order.max_price + 1)

    submit(order.pk, call_class=INTERACTIVE)

    order.refresh_from_db()
    assert (order.status, order.action_reason) == ("held", ActionReason.PRICE_CHANGED)
    assert upstream.ledger(order) == []


def test_an_exhausted_budget_leaves_the_order_queued_and_unsent(upstream: Upstream, settings):
    # The catalogue's three requests have used up more than this.
    settings.UPSTREAM_ACCOUNT_RATE = "2/minute"
    settings.UPSTREAM_INTERACTIVE_WAIT = 0.1
    order = place(1)

    submit(order.pk, call_class=INTERACTIVE)

    order.refresh_from_db()
    assert order.status == Status.QUEUED
    assert order.next_poll_at is not None
    assert upstream.calls(order) == []
    assert moves(order) == [("", "queued", "staff")]


def test_a_check_of_a_final_or_queued_order_asks_nothing(upstream: Upstream):
    order = place(1)

    poll(order.pk, call_class=BACKGROUND)

    assert upstream.calls(order) == []


def test_a_status_lost_once_accepted_is_an_incident_and_pending(upstream: Upstream):
    order = buy(3, wait=1)
    upstream.control("reset")

    poll(order.pk, call_class=INTERACTIVE)

    order.refresh_from_db()
    assert order.status == Status.PENDING
    assert Incident.objects.get().kind == Incident.Kind.LOST_AFTER_ACCEPTANCE


def test_a_late_arrival_is_noticed_after_never_arrived(upstream: Upstream, settings, django_user_model):
    """The callback is lost, and a person is about to close the order: it is asked for once more first."""
    settings.ORDER_NOT_FOUND_GRACE_SECONDS = 0.2
    order = buy(11, wait=15)
    assert (order.status, order.action_reason) == ("held", ActionReason.NEVER_ARRIVED)
    assert order.next_poll_at is not None
    get_client().send(  # the lost request turns up after all
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

    assert follow(order, seconds=10).status == Status.SUCCESS
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


def test_a_worker_frozen_between_claim_and_socket_sends_nothing(upstream: Upstream, monkeypatch):
    order = place(1)
    monkeypatch.setattr("upstream.budget.Permit.start", lambda self, endpoint: False)  # 15 s have passed

    submit(order.pk, call_class=INTERACTIVE)

    order.refresh_from_db()
    assert order.status == Status.QUEUED
    assert upstream.calls(order) == []


def test_a_huge_retry_after_is_cut_to_the_longest_delay(upstream: Upstream, monkeypatch):
    order = place(1)

    def refused(self, *args):
        raise Rejected(
            error_code=ErrorCode.RATE_LIMITED,
            message="slow down",
            http_status=429,
            retry_after=999_999.0,
        )

    monkeypatch.setattr("upstream.client.Client.send", refused)
    submit(order.pk, call_class=INTERACTIVE)

    order.refresh_from_db()
    assert order.status == Status.QUEUED
    assert order.next_poll_at < timezone.now() + timedelta(minutes=10, seconds=1)


def test_the_oldest_due_are_taken_first_and_leased(upstream: Upstream):
    older, newer, later = place(1), place(2), place(3)
    now = timezone.now()
    for order, age in ((older, 20), (newer, 10), (later, -60)):
        Order.objects.filter(pk=order.pk).update(next_poll_at=now - timedelta(seconds=age))

    taken = [DUE_ORDERS.take(1) for _ in range(3)]

    submit_task = tasks.submit_order.name
    assert taken == [[Work(submit_task, older.pk)], [Work(submit_task, newer.pk)], []]


def test_a_permit_that_was_handed_over_is_the_one_used(upstream: Upstream, monkeypatch):
    order = place(1)
    permit = get_client().budget.book(Endpoint.TRANSACTION_STATUS, BACKGROUND, 1.0)
    monkeypatch.setattr("upstream.client.Client.reserve", None)

    tasks.submit_order(order.pk, permit.hand_over())

    assert upstream.calls(order) == [CREATE]


@pytest.mark.parametrize("task", [tasks.submit_order, tasks.poll_order])
def test_a_permit_for_what_is_done_already_is_given_back(upstream: Upstream, task):
    order, budget = buy(1), get_client().budget
    permit = budget.book(Endpoint.TRANSACTION_STATUS, BACKGROUND, 1.0)

    task(order.pk, permit.hand_over())

    assert not budget.take_over(permit.id, Endpoint.TRANSACTION_STATUS).start(Endpoint.TRANSACTION_STATUS)
