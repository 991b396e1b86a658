"""The filters of the orders list: alone, together, for people with fewer rights; and the orders' sums."""

import datetime as dt
import re

import pytest
from django.http import QueryDict
from django.utils import timezone

from approvals.models import Approval, canonical, hash_of
from catalogue.models import Product
from core import filters, search
from core.periods import Period
from credit.methods import CASH
from customers.models import Customer, SavedNumber
from drawers.models import Drawer, Payment
from purchases import sums
from purchases.filters import OrderFilter
from purchases.models import Order, orders
from purchases.services import propose_verdict
from purchases.states import Status
from staff.models import User
from testing.factories import make_order, make_product
from testing.people import browser_of, make_person, signed_in
from tests.core.helpers import has_id, words_at
from tests.drawers.helpers import begin
from tests.plans import MANY, copy_many
from tests.purchases.helpers import listed

pytestmark = pytest.mark.django_db


def found(query: str, role: str = "supervisor") -> set[str]:
    """The ref_ids that the filters leave for a person with this role."""
    person = User.objects.filter(username=role).first() or make_person(role)
    filtered = OrderFilter(QueryDict(query), person=person, queryset=Order.objects.all())
    return set(filtered.qs.values_list("ref_id", flat=True))


FOUND_BY = {
    "cashier=sari": {"B-SARI"},
    "amount_from=50.000&amount_to=55000": {"B-SARI", "B-LOSS"},
    "amount_from=50.001": {"B-LOSS"},
    "ends=02": {"B-SARI"},
    "category=data": {"B-DATA"},
    "payment=qris": {"B-DATA"},
    "profit=loss": {"B-LOSS"},
    "amount_from=50000&ends=02&cashier=sari&days=today": {"B-SARI"},
    "amount_from=50000&ends=02&cashier=sari&days=yesterday": set(),
}


def test_each_filter_finds_its_orders():
    data = make_product(category="data", brand="data")
    facts = {"selling_price": 50_000, "destination": "081234567802", "placed_by": make_person(username="sari")}
    make_order(Status.SUCCESS, ref_id="B-SARI", **facts)
    make_order(Status.SUCCESS, ref_id="B-LOSS", max_price=52_000, selling_price=51_000)
    qris = make_order(Status.SUCCESS, ref_id="B-DATA", product=data, selling_price=12_000)
    type(qris.payment).objects.filter(pk=qris.payment_id, method=CASH).update(method="qris", is_cash=False)

    assert {query: found(query) for query in FOUND_BY} == FOUND_BY


def test_what_did_not_go_through_is_found_beside_what_people_ended():
    for status in Status:
        make_order(status, ref_id=f"B-{status}")

    assert found("status=unsold") == {"B-failed", "B-rejected", "B-reversed"}
    assert found("status=ended") == {"B-cancelled", "B-closed"}
    assert found("status=unsold&category=pulsa") == found("status=unsold")


def test_who_approved_an_order_finds_it_for_people_who_see_approvals():
    make_order(Status.SUCCESS, ref_id="B-ALONE")
    for name in ("rina", "joko"):
        order = make_order(Status.SUCCESS, ref_id=f"B-{name}")
        now, text = timezone.now(), canonical({"ref_id": order.ref_id})
        times = {"asked_at": now, "expires_at": now + dt.timedelta(hours=1)}
        facts = {"act": "order", "subject": name, "content": text, "sha256": hash_of(text), **times}
        approval = Approval.objects.create(asked_by=make_person(username=f"asks-{name}"), **facts)
        decided = {"decided_by": make_person("supervisor", username=name), "decided_at": now, "result": order.ref_id}
        Approval.objects.filter(pk=approval.pk).update(state="approved", **decided)

    assert found("approved=rina") == {"B-rina"}
    assert found("approved=*") == {"B-rina", "B-joko"}
    assert len(found("approved=rina", "cashier")) == 3


def test_an_order_whose_outcome_waits_for_approval_is_found():
    make_order(Status.SUCCESS, ref_id="B-OTHER")
    order = make_order(Status.SUCCESS, ref_id="B-ASKED", destination="081234567891")
    facts = {"outcome": "reversed", "evidence": "their dashboard, row 7", "reason": "asked twice"}
    propose_verdict(order, actor=make_person("supervisor", username="rina"), **facts)

    assert found("approved=%3F") == {"B-ASKED"}


def test_a_customer_is_found_by_every_saved_number():
    customer = Customer.objects.create(name="Bu Sari")
    for number in ("081200000001", "081200000002"):
        SavedNumber.objects.create(customer=customer, destination=number, kind="phone")
        make_order(Status.SUCCESS, ref_id=number, destination=number)
    make_order(Status.SUCCESS, destination="081200000003")

    assert found(f"customer={customer.pk}") == {"081200000001", "081200000002"}
    assert len(found(f"customer={customer.pk}", "auditor")) == 3


def test_an_address_with_another_text_than_a_key_is_answered_and_names_it(supervisor):
    make_order(Status.SUCCESS)

    for key in ("5.0", "abc", "0", "-1", "٥", "9" * 30):
        for name in ("customer", "shift"):
            answer = supervisor.get("/orders/", {name: key})
            assert (answer.status_code, list(answer.context["filter"].form.errors)) == (200, [name]), key
            assert supervisor.get("/orders/file/", {name: key, "format": "csv"}).status_code == 400, key


def test_an_address_with_another_text_than_a_day_is_answered_and_names_it(supervisor):
    order, shift = make_order(Status.SUCCESS), begin()

    for day in ("9999-12-31", "0001-01-01", "20261101", "2026-W45-1", "2026-02-30", "2026-11-01T10:00", "today"):
        for name in ("since", "until"):
            answer = supervisor.get("/orders/", {"days": "today", "drawer": "", name: day})
            assert (listed(answer), list(answer.context["filter"].form.errors)) == ([order.ref_id], [name]), day
            assert supervisor.get("/orders/", {"drawer": shift.drawer_id, name: day}).status_code == 200, day
            assert supervisor.get("/orders/file/", {name: day, "format": "csv"}).status_code == 400, day


def test_all_orders_of_a_customer_are_found_however_many():
    customer = Customer.objects.create(name="Pak RT")
    SavedNumber.objects.create(customer=customer, destination="081200000001", kind="phone")
    order = make_order(Status.SUCCESS, destination="081200000001")
    copy_many("purchases_order", order, id="o.id + n", ref_id="'OLD' || n", idempotency_key="'OLD' || n")

    assert len(found(f"customer={customer.pk}")) == MANY + 1 > search.MOST_FOUND


def test_people_cannot_filter_by_what_they_may_not_see():
    order = make_order(Status.SUCCESS, destination="081234567891", selling_price=20_000)

    for role, query in (("auditor", "ends=90"), ("cashier", "profit=loss")):
        assert found(query, role) == {order.ref_id}, query
        assert found(query) == set(), query


def test_what_no_index_finds_is_looked_for_in_30_days(supervisor):
    long_ago = timezone.now() - dt.timedelta(days=40)
    old = make_order(Status.SUCCESS, selling_price=50_000, created_at=long_ago)

    assert listed(supervisor.get("/orders/?amount_from=50000")) == []
    assert listed(supervisor.get(f"/orders/?amount_from=50000&since={timezone.localdate(long_ago)}")) == [old.ref_id]


def test_a_day_chosen_by_from_and_to_lights_its_period_and_a_file_names_the_dates(supervisor, time_machine):
    time_machine.move_to(dt.datetime(2026, 11, 25, 5, tzinfo=dt.UTC))  # at the end of November it is "this month"
    today = timezone.localdate()
    for name, first, last in [
        (["today"], today, today),
        (["yesterday"], *Period.YESTERDAY.days(today)),
        (["30"], *Period.DAYS_30.days(today)),
        ([], today - dt.timedelta(days=2), today - dt.timedelta(days=2)),
    ]:
        page = supervisor.get(f"/orders/?since={first}&until={last}").content.decode()

        assert re.findall(r'data-period="(\S+)"\s+aria-current="true"', page) == name, first

    query = QueryDict("days=yesterday&status=success")
    filtered = OrderFilter(query, person=User.objects.get(username="supervisor"), queryset=Order.objects.all())
    assert filtered.as_query() == "status=success&since=2026-11-24&until=2026-11-24"


def test_a_period_counts_from_today():
    for period, first, last in [
        ("today", "2026-11-25", "2026-11-25"),
        ("yesterday", "2026-11-24", "2026-11-24"),
        ("7", "2026-11-19", "2026-11-25"),
        ("week", "2026-11-23", "2026-11-25"),
        ("last-week", "2026-11-16", "2026-11-22"),
        ("30", "2026-10-27", "2026-11-25"),
        ("month", "2026-11-01", "2026-11-25"),
        ("last-month", "2026-10-01", "2026-10-31"),
    ]:
        days = Period(period).days(dt.date(2026, 11, 25))

        assert tuple(day.isoformat() for day in days) == (first, last), period


def test_each_chip_leads_to_the_list_without_it_and_a_space_in_place_of_a_price_is_no_filter(supervisor):
    page = supervisor.get("/orders/?status=success&amount_from=50000&days=today&q=0812")
    chips = {chip.name: chip.url for chip in page.context["filter"].chips()}
    assert chips == {
        "status": "?q=0812&amount_from=50000&days=today",
        "amount_from": "?q=0812&status=success&days=today",
    }

    for low, high in ((" ", "50000"), ("5000", " "), ("\t", "\u00a0")):
        page = supervisor.get("/orders/", {"amount_from": low, "amount_to": high})

        typed = [name for name, text in (("amount_from", low), ("amount_to", high)) if text.strip()]
        assert (page.status_code, [chip.name for chip in page.context["filter"].chips()]) == (200, typed)


def orders_of_every_kind():
    for status in (Status.SUCCESS, Status.SUCCESS, Status.PENDING, Status.FAILED):
        make_order(status, selling_price=12_000, destination=f"0812{Order.objects.count():08}", price=10_000)


def test_the_foot_counts_all_and_sums_what_arrived_and_above_the_most_says_about(supervisor, cashier, monkeypatch):
    orders_of_every_kind()

    total = sums.sums_of(Order.objects.all())

    assert (total.count, total.arrived, total.open, total.others) == (4, 2, 1, 1)
    assert (total.price, total.cost, total.profit, total.is_exact) == (24_000, 20_000, 4_000, True)
    seen = words_at(supervisor.get("/orders/sums/"), 'id="order-sums"')
    assert {"Rp24.000", "Rp20.000", "+Rp4.000"} <= set(seen.split())
    shown = words_at(cashier.get("/orders/sums/"), 'id="order-sums"')  # without cost and profit
    assert ("Rp24.000" in shown, "Rp20.000" in shown) == (True, False)
    assert has_id(cashier.get("/orders/sums/", headers={"HX-Request": "true"}), "order-sums")

    monkeypatch.setattr(search, "MOST_SUMMED", 2)
    about = sums.sums_of(Order.objects.all())
    assert not about.is_exact
    assert about.count >= 3


def test_the_foot_says_that_a_wide_search_lists_only_the_newest(supervisor, monkeypatch):
    monkeypatch.setattr(orders, "MOST_FOUND", 2)
    monkeypatch.setattr(filters, "MOST_FOUND", 2)
    for number in range(3):
        make_order(Status.SUCCESS, destination=f"0812345678{number}{number}")

    for query, is_cut in (("q=0812", True), ("q=0812&status=failed", True), ("q=08123456780", False), ("", False)):
        assert has_id(supervisor.get(f"/orders/sums/?{query}"), "search-cut") is is_cut, query


def test_a_product_is_chosen_by_its_name_and_stands_in_the_address_by_its_code(supervisor):
    for code, name in (("FF140", "Free Fire 140 Diamonds"), ("FF70", "Free Fire 70 Diamonds")):
        make_product(name=name, code=code, brand="free-fire")
    sold = make_order(Status.SUCCESS, product=Product.objects.get(code="FF140"))
    make_order(Status.SUCCESS, product=Product.objects.get(code="FF70"))

    for typed in ("Free Fire 140 Diamonds", "free fire 140", "FREE FIRE 140 diamonds"):
        answer = supervisor.get("/orders/", {"product": typed, "status": "success"}, follow=True)
        assert answer.request["QUERY_STRING"] == "status=success&product=FF140", typed
        assert listed(answer) == [sold.ref_id], typed
    assert 'value="Free Fire 140 Diamonds"' in str(answer.context["filter"].form["product"])
    for typed in ("free fire", "entahlah"):
        answer = supervisor.get("/orders/", {"product": typed})
        assert has_id(answer, "filter-faults"), typed


def test_the_filter_offers_the_names_of_products_while_they_are_typed(supervisor):
    for number in range(60):
        make_product(name=f"Zebra {number:02}", code=f"Z{number:02}", brand="zebra")
    make_product(name="Zebra 7 & <b>", code="OLD", brand="zebra", is_listed=False)

    def offered(text):
        return re.findall(
            r'<option value="([^"]*)"', supervisor.get("/orders/products/", {"product": text}).content.decode()
        )

    assert len(offered("zebra")) == 20
    assert offered("zebra 42") == ["Zebra 42"]
    assert "Zebra 7 &amp; &lt;b&gt;" in offered("zebra 7 &")
    assert "datalist" in supervisor.get("/orders/").content.decode()


def test_a_shift_is_chosen_by_its_drawer_and_day_and_named_to_people_who_may_see_it(supervisor):
    seller, drawer = make_person("cashier", username="rina"), Drawer.objects.create(name="Laci 1")
    shift, other = begin(seller, drawer=drawer), begin(make_person("cashier", username="other"))
    sold = make_order(Status.SUCCESS, placed_by=seller)
    Payment.objects.filter(pk=sold.payment_id).update(sold_in=shift)
    make_order(Status.SUCCESS)

    def offered(query, browser=supervisor):
        page = browser.get(f"/orders/?{query}").content.decode()
        select = re.search(r'<select[^>]*name="shift".*?</select>', page, re.DOTALL)
        return re.findall(r'<option value="(\d+)"', select[0]) if select else None

    assert offered("") is None
    assert offered(f"drawer={drawer.pk}") == offered(f"drawer={drawer.pk}&days=today") == [str(shift.pk)]
    assert offered(f"drawer={drawer.pk}&days=yesterday") == []
    assert offered(f"drawer={drawer.pk}", browser_of("viewer")) == []
    page = supervisor.get(f"/orders/?shift={shift.pk}")
    assert listed(page) == [sold.ref_id]
    assert [chip.words.split(" · ")[0] for chip in page.context["filter"].chips()] == ["Shift: Laci 1"]

    # only the shift's page, which a cashier may not open, says when a colleague's drawer was opened
    shown = [
        f"Shift: {each.drawer.name} ·" in browser.get(f"/orders/?shift={each.pk}").content.decode()
        for browser in (signed_in(seller), supervisor)
        for each in (shift, other)
    ]
    assert shown == [True, False, True, True]
