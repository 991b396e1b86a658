"""Acts on several orders at once: each by the rules of one, with its own result; and the upstream's requests."""

import re
import uuid

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.management import call_command
from django.utils import timezone

from audit.models import AuditEvent
from drawers.models import Payment
from ledger.models import Entry
from purchases.models import Order, OrderEvent, ReceiptPrint
from purchases.states import ActionReason, Status
from testing.factories import make_order, make_product, moves
from testing.people import browser_of, make_person, signed_in
from tests.branches.helpers import make_branch
from tests.conftest import Upstream
from tests.core.helpers import codes, counts_at, has_id, words, words_at
from tests.shop.helpers import papers_of, text_of

pytestmark = pytest.mark.django_db
HELD = {"action_reason": ActionReason.BALANCE_SHORT}


def post(browser, act, *orders, query="", **fields):
    refs = [order.ref_id for order in orders]
    return browser.post(f"/orders/bulk/{query}", {"act": act, "order": refs, **fields})


def results(answer):
    """The result of each order: ref_id → whether it was done."""
    return {result.order.ref_id: not result.refusal for result in answer.context["results"]}


def test_ticked_orders_get_a_tag_and_all_of_the_filter_as_well(cashier):
    ticked, other, failed = make_order(Status.SUCCESS), make_order(Status.SUCCESS), make_order(Status.FAILED)

    answer = post(cashier, "tag", ticked, tag="Promo")
    assert results(answer) == {ticked.ref_id: True}
    answer = post(cashier, "tag", query="?status=failed&q=", every="on", tag="bank")
    assert results(answer) == {failed.ref_id: True}

    tags = {order.ref_id: order.tag_names for order in Order.objects.with_tags()}
    assert tags == {ticked.ref_id: ["promo"], other.ref_id: [], failed.ref_id: ["bank"]}


def test_an_odd_tag_is_refused_once_for_all_and_without_orders_none_is_put(cashier):
    orders = [make_order(Status.SUCCESS), make_order(Status.FAILED)]

    for tag in ("", "5"):
        answer = post(cashier, "tag", *orders, query="?q=", tag=tag)

        assert (answer.status_code, answer.headers["Location"].split("?")[0]) == (302, "/orders/"), tag
        assert cashier.get("/orders/").content.decode().count('data-code="ActionRefused"') == 1, tag
    for query, fields in (("", {}), ("?status=nonsense", {"every": "on"})):
        assert post(cashier, "tag", query=query, tag="promo", **fields).status_code == 302, query
    assert not Order.objects.filter(tags__isnull=False).exists()


def test_each_result_names_the_number_as_the_person_sees_it():
    order = make_order(Status.UNKNOWN, destination="081298765432")
    rights = Permission.objects.filter(codename__in=["note_order", "resolve_order"])

    for role, number in (("supervisor", "0812-9876-5432"), ("auditor", "0812-••••-•432")):
        person = make_person(role)
        person.user_permissions.add(*rights)
        for act in ("tag", "poll", "release"):
            page = post(signed_in(person), act, order, tag="promo", confirmed="on")
            assert number in words(page), (role, act)


def test_an_order_to_be_polled_is_not_shown_as_done_and_a_held_one_says_why(supervisor):
    order = make_order(Status.UNKNOWN)

    polled, tagged = (post(supervisor, act, order, tag="promo").content.decode() for act in ("poll", "tag"))

    assert [re.findall(r'data-done="(\w+)"', page) for page in (polled, tagged)] == [["next"], ["yes"]]
    assert Order.objects.get().status == Status.UNKNOWN
    for sent_no, says in ((None, "not taken"), (1, "may have arrived")):
        held = make_order(Status.NEEDS_ACTION, sent_no=sent_no, **HELD)
        answer = post(supervisor, "poll", held)
        assert results(answer) == {held.ref_id: False}
        assert says in words_at(answer, 'data-done="no"')


def test_each_ticked_order_gets_a_receipt_of_its_branch(cashier):
    branch = make_branch("Pasar Baru", address="Jl. Otista 5")
    here = make_order(Status.SUCCESS)
    there = make_order(Status.SUCCESS, placed_by=make_person("cashier", username="there", branch=branch))
    open_one, taken_back = make_order(Status.PENDING), make_order(Status.REVERSED)

    refused = cashier.post("/orders/receipts/", {"orders": taken_back.ref_id}, follow=True)
    assert codes(refused) >= {"no_receipt"}
    preview = cashier.get(post(cashier, "print", here, there, open_one).headers["Location"])
    assert len(papers_of(preview)) == 2
    assert f'data-left-out="{open_one.ref_id}"' in preview.content.decode()
    assert not ReceiptPrint.objects.exists()  # it was viewed, not printed
    form = {"orders": preview.context["refs"], "paper": "80"}
    papers = {}
    for paper in papers_of(cashier.post("/orders/receipts/", form, follow=True)):
        papers[here.ref_id if here.ref_id in paper else there.ref_id] = text_of(paper)

    assert (papers[here.ref_id].count("TOTAL"), papers[there.ref_id].count("TOTAL")) == (1, 1)
    assert ["Jl. Otista 5" in papers[order.ref_id] for order in (here, there)] == [False, True]
    assert sorted(ReceiptPrint.objects.values_list("order", "number", "sheet")) == [
        (order.pk, 1, None) for order in (here, there)
    ]


def test_what_a_customer_paid_at_once_stays_on_one_paper(cashier):
    at_once, now = uuid.uuid4(), timezone.now()
    together = []
    for ref_id in ("PAID-1", "PAID-2"):
        paid = {"ref_id": ref_id, "amount": 10_500, "cost": 10_000, "outcome": "kept", "at": now, "ended_at": now}
        payment = Payment.objects.create(**paid, paid_at_once=at_once)
        together.append(make_order(Status.SUCCESS, ref_id=ref_id, payment=payment))
    alone = make_order(Status.SUCCESS)
    form = {"orders": ",".join(order.ref_id for order in [*together, alone])}

    papers = papers_of(cashier.post("/orders/receipts/", form, follow=True))

    on_papers = [{order.ref_id for order in [*together, alone] if order.ref_id in paper} for paper in papers]
    assert on_papers == [{alone.ref_id}, {order.ref_id for order in together}]
    assert len(set(ReceiptPrint.objects.filter(order__in=together).values_list("sheet"))) == 1


def test_the_file_holds_the_ticked_orders_and_is_noted(cashier, supervisor):
    first, second = make_order(Status.SUCCESS), make_order(Status.SUCCESS)

    answer = post(supervisor, "file", first)

    text = b"".join(answer.streaming_content).decode()
    assert (first.ref_id in text, second.ref_id in text) == (True, False)
    assert AuditEvent.objects.get(kind="export_made").facts == {"format": "csv", "rows": 1}
    assert post(cashier, "file", first).status_code == 400  # a file has costs


def test_held_orders_are_released_once_each_for_the_confirmed_price(supervisor):
    held = make_order(Status.NEEDS_ACTION, **HELD)
    risen = make_order(Status.NEEDS_ACTION, product=make_product(price=20_000), max_price=10_000, **HELD)
    doubtful = make_order(Status.NEEDS_ACTION, action_reason=ActionReason.NEVER_ARRIVED)
    orders = (held, risen, doubtful, make_order(Status.SUCCESS))

    assert results(post(supervisor, "release", doubtful)) == {doubtful.ref_id: False}
    sent = post(supervisor, "release", *orders, confirmed="on")
    assert list(results(sent).values()).count(True) == 1
    assert results(post(supervisor, "release", held, confirmed="on")) == {held.ref_id: False}

    assert moves(held) == [("needs_action", "queued", "staff")]
    assert not OrderEvent.objects.exclude(order=held).exists()
    assert {order.status for order in Order.objects.exclude(pk=held.pk)} == {"needs_action", "success"}


@pytest.fixture
def costs_hidden(transactional_db: None):
    """Hide costs from supervisors; taken back afterwards, because a test's committed roles stay."""
    role, right = Group.objects.get(name="supervisor"), Permission.objects.get(codename="view_cost")
    role.permissions.remove(right)
    yield
    role.permissions.add(right)


def test_sending_again_is_asked_first_with_what_it_costs(upstream: Upstream, request):
    held = [make_order(Status.NEEDS_ACTION, max_price=10_500, price=None, **HELD) for _ in range(2)]
    doubtful = make_order(Status.NEEDS_ACTION, action_reason=ActionReason.NEVER_ARRIVED)
    entries = Entry.objects.count()
    supervisor = signed_in(make_person("supervisor"))

    for sees_cost in (True, False):
        if not sees_cost:
            request.getfixturevalue("costs_hidden")
        page = post(supervisor, "release", query="?status=needs_action", every="on")

        assert counts_at(page, "data-to-send")[0] == 2
        assert ("Rp21.000" in words(page)) is sees_cost
        assert hidden_refs(page) == {order.ref_id for order in held}
        assert doubtful.ref_id in words_at(page, 'data-done="no"')
    assert not OrderEvent.objects.exists()
    assert [upstream.calls(order) for order in held] == [[], []]
    assert Entry.objects.count() == entries

    # when: the page's form is sent twice
    for _ in range(2):
        post(supervisor, "release", *held, query="?status=needs_action", confirmed="on")

    assert [moves(order) for order in held] == [[("needs_action", "queued", "staff")]] * 2
    assert not OrderEvent.objects.filter(order=doubtful).exists()


def hidden_refs(page):
    return set(re.findall(r'type="hidden" name="order" value="([^"]+)"', page.content.decode()))


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


def test_people_are_offered_what_they_may_do(cashier):
    order = make_order(Status.NEEDS_ACTION, **HELD)

    assert post(cashier, "release", order).status_code == 400
    assert post(browser_of("viewer"), "tag", order, tag="x").status_code == 403
    assert not has_id(browser_of("viewer", username="other").get("/orders/"), "bulk")
    assert has_id(cashier.get("/orders/"), "bulk")
    assert "release" not in cashier.get("/orders/").context["bulk_acts"]


def test_given_an_order_from_before_a_restore_then_its_page_decides(supervisor, upstream: Upstream):
    lost, sold = make_order(Status.NEEDS_ACTION, **HELD), make_order(Status.SUCCESS)
    call_command("hold_restored", to=timezone.now())
    held = make_order(Status.NEEDS_ACTION, **HELD)
    entries = list(Entry.objects.values_list("pk", flat=True))

    answer = post(supervisor, "release", lost, sold, held, confirmed="on")

    assert results(answer) == {lost.ref_id: False, sold.ref_id: False, held.ref_id: True}
    assert [upstream.calls(order) for order in (lost, held)] == [[], []]
    assert [moves(order) for order in (lost, held)] == [[], [("needs_action", "queued", "staff")]]
    assert list(Entry.objects.exclude(ref_id=held.ref_id).values_list("pk", flat=True)) == entries
