"""A customer's page says what they buy; people who may not see full numbers do not learn whose orders those are."""

from __future__ import annotations

import re

import pytest

from customers.models import Customer, SavedNumber
from drawers.services import merge_customers
from earnings.services import Period, figures_by_customer
from purchases.states import Status
from testing.database import past_triggers
from testing.factories import make_product
from testing.people import browser_of, make_person
from tests.credit.helpers import give_credit, sell_to
from tests.earnings.helpers import ago, sold

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def customer() -> Customer:
    customer = Customer.objects.create(name="Bu Sari")
    SavedNumber.objects.create(customer=customer, destination="081211112222", kind="phone")
    product = make_product(code="TSEL10")
    for days, status in ((1, Status.SUCCESS), (2, Status.SUCCESS), (3, Status.FAILED)):
        sold(ago(days), status, product=product, destination="081211112222")
    sold(ago(1), destination="081233334444")
    return customer


def test_a_customers_page_says_what_they_buy(customer: Customer):
    page = browser_of("cashier").get(f"/customers/{customer.pk}/").content.decode()

    assert re.findall(r'id="bought-sum" data-amount="(\d+)"', page) == ["24000"]
    assert re.findall(r'data-product="(\w+)"', page) == ["TSEL10"]
    assert len(re.findall(r'id="bought-\d+"', page)) == 3
    assert f"/orders/?customer={customer.pk}" in page


def test_a_customer_without_orders_has_none():
    customer = Customer.objects.create(name="Pak Budi")

    assert 'id="bought-sum"' not in browser_of("cashier").get(f"/customers/{customer.pk}/").content.decode()


def test_earnings_by_customer_count_each_order_once(customer: Customer):
    second = Customer.objects.create(name="Pak Budi")  # the same number, saved later
    SavedNumber.objects.create(customer=second, destination="081211112222", kind="phone")
    sold(ago(40), destination="081211112222")
    owing = give_credit("Bu Sri")
    sell_to(owing, 10_000, by=make_person("cashier"), destination="081211112222")

    page = browser_of("supervisor").get("/earnings/", {"by": "customer", "since": ago(60).date().isoformat()})

    lines = dict(re.findall(r'data-key="(\d*)" data-sales="(\d+)"', page.content.decode()))
    assert lines == {"": "12000", str(customer.pk): "24000", str(owing.pk): "0"}
    assert f'href="/customers/{customer.pk}/"' in page.content.decode()
    assert page.context["report"].chosen.period.first == ago(30).date()


def test_people_who_see_no_customers_have_no_earnings_by_customer(customer: Customer):
    page = browser_of("auditor").get("/earnings/", {"by": "customer"}).content.decode()

    assert 'data-by="customer"' not in page
    assert f"/customers/{customer.pk}/" not in page


def test_an_order_whose_debt_a_merge_moved_counts_for_the_customer_who_stays():
    cashier, day = make_person("cashier"), ago(3)
    order = sell_to(give_credit("Bu Sri"), 10_000, by=cashier, destination="081211112222")
    owing = order.payment.debt.account.customer
    with past_triggers() as cursor:
        cursor.execute("UPDATE purchases_order SET created_at = %s", [day])
        cursor.execute("UPDATE credit_creditentry SET at = %s", [day])

    kept = merge_customers(give_credit("Pak Budi"), owing, name="Pak Budi", note="", actor=make_person("supervisor"))

    order.payment.refresh_from_db()
    assert order.payment.debt.account.customer == kept
    figures = figures_by_customer(Period.of_days(day.date(), day.date()))
    assert {customer: figure.placed for customer, figure in figures.items()} == {kept.pk: 1}
