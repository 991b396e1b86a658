"""Orders: the list with its filters, one order live, and what may be done about it."""

import datetime as dt
import html
import re

import pytest
from django.utils import timezone

from purchases.models import Incident, OrderEvent
from purchases.order_life import FINAL, HoldReason, Status
from tests.factories import make_order, make_product

pytestmark = pytest.mark.django_db


def words(answer) -> str:
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


def listed(answer) -> list[str]:
    """The ref_ids of the rows, in order."""
    return re.findall(r'class="row-link" href="/orders/([^/]+)/"', answer.content.decode())


def detail(client, order, **query):
    return client.get(f"/orders/{order.ref_id}/", query)


def poll_of(answer) -> str | None:
    """The address that the page asks next, if it goes on asking."""
    found = re.search(r'id="[a-z]+-poll" hidden hx-get="([^"]+)"', answer.content.decode())
    return html.unescape(found.group(1)) if found else None


# --- one order ------------------------------------------------------------------------------------------------


def test_a_successful_order_shows_its_sn_with_a_copy_button_and_the_next_step(cashier):
    order = make_order(Status.SUCCESS, sn="5985080747136515", price=10_450, trx_id="TRX-1")

    page = detail(cashier, order)

    assert 'data-copy="5985080747136515"' in page.content.decode()
    assert "Next customer" in words(page)
    assert "Rp10.450" in words(page)
    assert "TRX-1" in words(page)


def test_an_electricity_token_is_grouped_for_reading_and_copied_without_the_rest(cashier):
    product = make_product(name="Token PLN 20.000", category="token-pln", brand="pln")
    order = make_order(
        Status.SUCCESS, product=product, destination="12345678901", sn="2788-0111-7956-9150-3095/BUDI/R1/900VA/13.6"
    )

    page = detail(cashier, order)

    assert "2788 0111 7956 9150 3095" in words(page)
    assert "BUDI · R1 · 900VA · 13.6" in words(page)
    assert 'data-copy="27880111795691503095"' in page.content.decode()
    assert "1234 5678 901" in words(page)


def test_an_unknown_outcome_has_its_own_words_and_is_nowhere_called_failed(cashier):
    order = make_order(Status.UNKNOWN, checks=3)

    page = words(detail(cashier, order))

    assert "Outcome not known yet" in page
    assert "Do not buy it again, and do not give the money back yet." in page
    assert "Asked 3 times so far." in page
    assert "Ask the upstream now" in page
    assert "ailed" not in page


@pytest.mark.parametrize("reason", list(HoldReason))
def test_each_reason_to_hold_is_explained_with_what_can_be_done(admin, reason):
    order = make_order(Status.HELD, hold_reason=reason)

    page = words(detail(admin, order))

    assert str(reason.label) in page
    assert "Send again" in page
    assert ("Close as failed" in page) == (reason == HoldReason.NEVER_ARRIVED)
    assert ("Cancel the order" in page) == (reason != HoldReason.NEVER_ARRIVED)


@pytest.mark.parametrize("status", sorted(Status))
def test_the_page_goes_on_asking_exactly_while_the_order_is_open(cashier, status):
    order = make_order(status)

    page = detail(cashier, order)

    assert (poll_of(page) is None) == (status in FINAL)
    assert ("<noscript><meta http-equiv" in page.content.decode()) == (status not in FINAL)


def test_the_live_part_is_sent_only_when_something_changed_and_stops_when_final(cashier):
    order = make_order(Status.PENDING)
    ask = poll_of(detail(cashier, order))

    same = cashier.get(ask)
    assert "order-live" not in same.content.decode()
    assert poll_of(same) == ask

    order.status, order.sn, order.final_at, order.next_check_at = Status.SUCCESS, "SN-77", timezone.now(), None
    order.save()
    changed = cashier.get(ask)
    assert 'id="order-live" hx-swap-oob="true"' in changed.content.decode()
    assert "SN-77" in changed.content.decode()
    assert poll_of(changed) is None


@pytest.mark.parametrize(("age", "delay"), [(0, 2), (30, 4), (120, 7), (3600, 10)])
def test_the_questions_of_the_page_back_off(cashier, age, delay):
    order = make_order(Status.PENDING, created_at=timezone.now() - dt.timedelta(seconds=age))

    assert f'hx-trigger="load delay:{delay}s"' in detail(cashier, order).content.decode()


def test_the_timeline_tells_who_said_what(cashier):
    order = make_order(Status.PENDING)
    OrderEvent.objects.create(order=order, to_status=Status.QUEUED, source="staff")
    OrderEvent.objects.create(
        order=order, from_status=Status.SENDING, to_status=Status.PENDING, source="submit", note="In the works."
    )

    page = words(detail(cashier, order))

    assert "Queued" in page
    assert "Answer to our request" in page
    assert "In the works." in page


def test_what_the_upstream_says_is_shown_as_text(cashier):
    order = make_order(Status.FAILED, message="<img src=x onerror=alert(1)>")

    assert "<img" not in detail(cashier, order).content.decode()


def test_an_incident_is_shown_and_closing_it_needs_a_finding(admin):
    order = make_order(Status.SUCCESS)
    incident = Incident.objects.create(
        order=order, kind="contradiction", source="callback", detail="failed is reported"
    )
    url = f"/orders/{order.ref_id}/incidents/{incident.pk}/close/"

    assert "failed is reported" in words(detail(admin, order))
    refused = admin.post(url, {"note": "  "}, follow=True)
    incident.refresh_from_db()
    assert "Write what you found first." in words(refused)
    assert incident.closed_at is None

    admin.post(url, {"note": "Their mistake, see mail."})
    again = admin.post(url, {"note": "twice"}, follow=True)
    assert "Their mistake, see mail." in words(again)
    assert "This incident was closed before." in words(again)


def test_an_unknown_ref_id_is_a_404(cashier):
    assert cashier.get("/orders/NOPE/").status_code == 404
    assert cashier.get("/orders/NOPE/live/").status_code == 404


# --- what a person does ---------------------------------------------------------------------------------------


def test_a_held_order_is_sent_again_under_the_same_ref_id(admin):
    order = make_order(Status.HELD, hold_reason=HoldReason.CUT_OFF)

    admin.post(f"/orders/{order.ref_id}/again/")

    before = order.ref_id
    order.refresh_from_db()
    assert (order.status, order.ref_id) == (Status.QUEUED, before)


def test_a_risen_price_is_confirmed_on_the_button(admin):
    product = make_product(price=10_500)
    order = make_order(Status.HELD, product=product, hold_reason=HoldReason.PRICE_CHANGED)
    product.price = 11_000
    product.save()

    assert "Confirm Rp11.000 (was Rp10.500) and send" in words(detail(admin, order))
    admin.post(f"/orders/{order.ref_id}/again/", {"price": "11000"})

    order.refresh_from_db()
    assert (order.status, order.max_price) == (Status.QUEUED, 11_000)


def test_a_price_that_moved_once_more_is_not_confirmed_by_an_old_button(admin):
    product = make_product(price=10_500)
    order = make_order(Status.HELD, product=product, hold_reason=HoldReason.PRICE_CHANGED)
    product.price = 12_000
    product.save()

    answer = admin.post(f"/orders/{order.ref_id}/again/", {"price": "11000"}, follow=True)

    assert "The price is now Rp12.000" in words(answer)
    order.refresh_from_db()
    assert order.status == Status.HELD


def test_while_the_catalogue_lags_behind_the_new_price_can_be_fetched_from_the_order(admin):
    order = make_order(Status.HELD, hold_reason=HoldReason.PRICE_CHANGED)

    page = detail(admin, order).content.decode()
    answer = admin.post("/overview/catalogue/", {"next": f"/orders/{order.ref_id}/"})

    assert "Fetch the new price" in page
    assert answer["Location"] == f"/orders/{order.ref_id}/"


def test_a_next_of_another_site_is_not_followed(admin):
    assert admin.post("/overview/catalogue/", {"next": "https://elsewhere.example/"})["Location"] == "/"


def test_a_queued_order_is_cancelled_with_the_reason_in_its_timeline(admin):
    order = make_order(Status.QUEUED)

    admin.post(f"/orders/{order.ref_id}/cancel/", {"note": "customer left"})

    order.refresh_from_db()
    assert order.status == Status.CANCELLED
    assert "customer left" in words(detail(admin, order))


def test_an_order_that_moved_on_meanwhile_is_left_and_the_person_told(admin):
    order = make_order(Status.PENDING)

    answer = admin.post(f"/orders/{order.ref_id}/cancel/", follow=True)

    assert "Not possible: the order is now “in process”." in words(answer)
    order.refresh_from_db()
    assert order.status == Status.PENDING


def test_what_never_arrived_can_be_closed_as_failed(upstream, admin):
    order = make_order(Status.HELD, hold_reason=HoldReason.NEVER_ARRIVED)

    admin.post(f"/orders/{order.ref_id}/close/", {"note": "refunded in cash"})

    order.refresh_from_db()
    assert order.status == Status.FAILED


def test_an_action_nobody_knows_is_a_404(admin):
    assert admin.post(f"/orders/{make_order().ref_id}/explode/").status_code == 404


# --- the list -------------------------------------------------------------------------------------------------


def test_the_list_shows_the_newest_first(cashier):
    old = make_order(Status.SUCCESS, created_at=timezone.now() - dt.timedelta(hours=2))
    new = make_order(Status.SUCCESS)

    assert listed(cashier.get("/orders/")) == [new.ref_id, old.ref_id]


@pytest.mark.parametrize("query", ["081234567891", "4567891", "SN-FIND-ME", "find-me"])
def test_an_order_is_found_by_destination_or_sn(cashier, query):
    make_order(Status.SUCCESS)
    wanted = make_order(Status.SUCCESS, destination="081234567891", sn="SN-FIND-ME")

    assert listed(cashier.get("/orders/", {"q": query})) == [wanted.ref_id]


def test_an_order_is_found_by_its_ref_id_or_the_beginning_of_it(cashier):
    make_order(Status.SUCCESS)
    wanted = make_order(Status.SUCCESS, ref_id="B260101-ABCDEFGHJK")

    assert listed(cashier.get("/orders/", {"q": "b260101-abc"})) == [wanted.ref_id]


def test_status_and_the_two_groups_narrow(cashier):
    orders = {status: make_order(status) for status in (Status.SUCCESS, Status.PENDING, Status.HELD)}
    long_unknown = make_order(Status.UNKNOWN, sent_at=timezone.now() - dt.timedelta(minutes=5))

    def found(status):
        return set(listed(cashier.get("/orders/", {"status": status})))

    assert found("success") == {orders[Status.SUCCESS].ref_id}
    assert found("open") == {orders[Status.PENDING].ref_id, orders[Status.HELD].ref_id, long_unknown.ref_id}
    assert found("attention") == {orders[Status.HELD].ref_id, long_unknown.ref_id}


def test_days_are_days_in_jakarta(cashier):
    jakarta = dt.timezone(dt.timedelta(hours=7))
    late = make_order(Status.SUCCESS, created_at=dt.datetime(2026, 8, 21, 23, 59, tzinfo=jakarta))
    early = make_order(Status.SUCCESS, created_at=dt.datetime(2026, 8, 22, 0, 1, tzinfo=jakarta))

    assert listed(cashier.get("/orders/?since=2026-08-22")) == [early.ref_id]
    assert listed(cashier.get("/orders/?until=2026-08-21")) == [late.ref_id]
    assert listed(cashier.get("/orders/?since=2026-08-21&until=2026-08-22")) == [early.ref_id, late.ref_id]


def test_brand_and_product_narrow(cashier):
    axis = make_product(brand="axis", name="Axis 5.000")
    axis.brand.name = "Axis"
    axis.brand.save()
    wanted = make_order(Status.SUCCESS, product=axis)
    make_order(Status.SUCCESS)

    assert listed(cashier.get("/orders/?brand=Axis")) == [wanted.ref_id]
    assert listed(cashier.get(f"/orders/?product={axis.code}")) == [wanted.ref_id]


def test_a_filter_that_makes_no_sense_is_said_and_left_out(cashier):
    order = make_order(Status.SUCCESS)

    answer = cashier.get("/orders/?since=yesterday&status=nonsense")

    assert "A filter makes no sense and was left out" in words(answer)
    assert listed(answer) == [order.ref_id]


@pytest.mark.parametrize(
    "query", ["q=%00", "older=x", "newer=99999999999-1", "older=20260101T000000.000000-0", "q=%25"]
)
def test_no_query_breaks_the_list(cashier, query):
    make_order(Status.SUCCESS)

    assert cashier.get(f"/orders/?{query}").status_code == 200


def test_pages_follow_on_one_another_both_ways_even_at_the_same_moment_and_while_orders_come_in(cashier):
    product, moment = make_product(), timezone.now() - dt.timedelta(minutes=5)
    orders = [
        make_order(Status.SUCCESS, product=product, destination=f"0812{i:08}", created_at=moment) for i in range(120)
    ]
    expected = [order.ref_id for order in reversed(orders)]

    def neighbour(answer, word):
        link = re.search(rf'href="(\?[^"]*{word}=[^"]+)"', answer.content.decode())
        return cashier.get("/orders/" + html.unescape(link.group(1))) if link else None

    first = cashier.get("/orders/?status=success")
    make_order(Status.SUCCESS, product=product, destination="081299999999")
    second = neighbour(first, "older")
    third = neighbour(second, "older")
    back = neighbour(second, "newer")

    assert listed(first) == expected[:50]
    assert listed(second) == expected[50:100]
    assert listed(third) == expected[100:]
    assert neighbour(third, "older") is None
    assert listed(back) == expected[:50]
    assert "status=success" in second.request["QUERY_STRING"]


def test_the_list_asks_about_its_open_orders_and_gets_only_the_rows_that_changed(cashier):
    product = make_product()
    moving = make_order(Status.PENDING, product=product, destination="081200000001")
    waiting = make_order(Status.PENDING, product=product, destination="081200000002")
    make_order(Status.SUCCESS, product=product)
    ask = poll_of(cashier.get("/orders/"))

    calm = cashier.get(ask)
    assert listed(calm) == []
    assert "delay:4s" in calm.content.decode()

    moving.status, moving.final_at, moving.next_check_at = Status.SUCCESS, timezone.now(), None
    moving.save()
    changed = cashier.get(ask)
    assert listed(changed) == [moving.ref_id]
    assert f'id="order-{moving.pk}" hx-swap-oob="true"' in changed.content.decode()
    assert str(waiting.pk) in poll_of(changed)
    assert f"{moving.pk}:" not in poll_of(changed)


def test_a_list_of_final_orders_asks_nothing(cashier):
    make_order(Status.SUCCESS)

    assert poll_of(cashier.get("/orders/")) is None


@pytest.mark.parametrize("watched", ["", "x:y", "1", "99999999999999999999:pending", "²:pending", ",,,"])
def test_a_spoiled_question_of_the_list_is_answered_calmly(cashier, watched):
    assert cashier.get("/orders/live/", {"watched": watched, "delay": "²"}).status_code == 200


def test_no_orders_and_none_that_match_are_two_different_things(cashier):
    assert "What is bought shows up here" in words(cashier.get("/orders/"))
    make_order(Status.SUCCESS)
    assert "No order matches" in words(cashier.get("/orders/?q=zzz"))
