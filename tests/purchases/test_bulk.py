"""Several orders at once: each by the rules of one, with its own result; what the upstream is asked meanwhile."""

import pytest

from audit.models import AuditEvent
from ledger.models import Entry
from purchases.models import Order, OrderEvent, ReceiptPrint
from purchases.states import ActionReason, Status
from testing.factories import make_order, make_product, moves
from testing.people import browser_of
from tests.conftest import Upstream
from tests.core.helpers import has_id

pytestmark = pytest.mark.django_db
HELD = {"action_reason": ActionReason.BALANCE_SHORT}


@pytest.fixture
def supervisor():
    return browser_of("supervisor")


def post(browser, act, *orders, query="", **fields):
    refs = [order.ref_id for order in orders]
    return browser.post(f"/orders/bulk/{query}", {"act": act, "order": refs, **fields})


def results(answer):
    """What came of each order: ref_id → whether it was done."""
    return {result.order.ref_id: not result.refusal for result in answer.context["results"]}


def test_ticked_orders_get_a_tag_and_all_of_the_filter_as_well(cashier):
    ticked, other, failed = make_order(Status.SUCCESS), make_order(Status.SUCCESS), make_order(Status.FAILED)

    answer = post(cashier, "tag", ticked, tag="Promo")
    assert results(answer) == {ticked.ref_id: True}
    answer = post(cashier, "tag", query="?status=failed&q=", every="on", tag="bank")
    assert results(answer) == {failed.ref_id: True}

    tags = {order.ref_id: order.tag_names for order in Order.objects.with_tags()}
    assert tags == {ticked.ref_id: ["promo"], other.ref_id: [], failed.ref_id: ["bank"]}
    assert [result.refusal > "" for result in post(cashier, "tag", other, tag="5").context["results"]] == [True]


def test_receipts_of_those_that_arrived_go_on_one_sheet(cashier):
    first, second, open_one = make_order(Status.SUCCESS), make_order(Status.SUCCESS), make_order(Status.PENDING)

    answer = post(cashier, "print", first, second, open_one)

    assert results(answer) == {first.ref_id: True, second.ref_id: True, open_one.ref_id: False}
    sheet = {printed.order: printed.sheet for printed in ReceiptPrint.objects.all()}
    assert sheet.keys() == {first, second}
    assert f"/orders/sheets/{sheet[first]}/" in answer.content.decode()
    assert cashier.get(f"/orders/sheets/{sheet[first]}/").status_code == 200


def test_the_file_holds_the_ticked_orders_and_is_noted(cashier, supervisor):
    first, second = make_order(Status.SUCCESS), make_order(Status.SUCCESS)

    answer = post(supervisor, "file", first)

    text = b"".join(answer.streaming_content).decode()
    assert (first.ref_id in text, second.ref_id in text) == (True, False)
    assert AuditEvent.objects.get(kind="export_made").facts == {"format": "csv", "rows": 1}
    assert post(cashier, "file", first).status_code == 400  # a file holds costs


def test_held_orders_are_released_once_each_for_the_confirmed_price(supervisor):
    held = make_order(Status.NEEDS_ACTION, **HELD)
    risen = make_order(Status.NEEDS_ACTION, product=make_product(price=20_000), max_price=10_000, **HELD)
    doubtful = make_order(Status.NEEDS_ACTION, action_reason=ActionReason.NEVER_ARRIVED)
    orders = (held, risen, doubtful, make_order(Status.SUCCESS))

    assert list(results(post(supervisor, "release", *orders)).values()).count(True) == 1
    assert results(post(supervisor, "release", held)) == {held.ref_id: False}

    assert moves(held) == [("needs_action", "queued", "staff")]
    assert not OrderEvent.objects.exclude(order=held).exists()
    assert {order.status for order in Order.objects.exclude(pk=held.pk)} == {"needs_action", "success"}


def test_no_act_here_asks_the_upstream_or_spends(supervisor, upstream: Upstream):
    orders = [
        make_order(Status.PENDING),
        make_order(Status.UNKNOWN),
        make_order(Status.SUCCESS),
        make_order(Status.NEEDS_ACTION, action_reason=ActionReason.NEVER_ARRIVED),
        make_order(Status.NEEDS_ACTION, **HELD),
    ]
    states = list(Order.objects.order_by("pk").values_list("status", flat=True))
    entries = Entry.objects.count()

    asked = results(post(supervisor, "poll", *orders))
    for act in ("tag", "print", "file"):
        post(supervisor, act, *orders, tag="x")

    assert [asked[order.ref_id] for order in orders] == [True, True, False, True, False]
    assert [upstream.calls(order) for order in orders] == [[]] * 5
    assert list(Order.objects.order_by("pk").values_list("status", flat=True)) == states
    assert Entry.objects.count() == entries


def test_nothing_ticked_or_an_odd_filter_does_nothing(cashier):
    make_order(Status.SUCCESS)

    for query, fields in (("", {}), ("?status=nonsense", {"every": "on"})):
        assert post(cashier, "tag", query=query, tag="promo", **fields).status_code == 302

    assert not Order.objects.filter(tags__isnull=False).exists()


def test_people_are_offered_what_they_may_do(cashier):
    order = make_order(Status.NEEDS_ACTION, **HELD)

    assert post(cashier, "release", order).status_code == 400
    assert post(browser_of("viewer"), "tag", order, tag="x").status_code == 403
    assert not has_id(browser_of("viewer", username="other").get("/orders/"), "bulk")
    assert has_id(cashier.get("/orders/"), "bulk")
    assert "release" not in cashier.get("/orders/").context["bulk_acts"]
