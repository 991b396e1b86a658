"""A customer's page shows their purchases; people who may not see full numbers do not learn whose orders these are."""

import re
from importlib import import_module

import pytest

from complaints.services import open_complaint
from customers.models import Customer, SavedNumber
from customers.services import erase
from drawers.services import change_payment, merge_customers
from earnings.services import Period, by_customer, figures_by, prove_days, sum_days
from earnings.services.buying import buying_of
from purchases.models import Order
from purchases.states import Status
from testing.database import past_triggers
from testing.factories import make_product
from testing.people import browser_of, make_person, signed_in
from tests.credit.helpers import give_credit, sell_to
from tests.drawers.helpers import begin, sell
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
    browser = browser_of("cashier")
    page = browser.get(f"/customers/{customer.pk}/").content.decode()

    assert re.findall(r'id="bought-sum" data-amount="(\d+)"', page) == ["24000"]
    assert re.findall(r'data-product="(\w+)"', page) == ["TSEL10"]
    assert len(re.findall(r'id="bought-\d+"', page)) == 3
    assert page.count('<td class="c-paid_by') == 3
    assert f"/orders/?customer={customer.pk}" in page

    # what was bought once is not usual, and a customer without orders has none
    sold(ago(4), product=make_product(code="ONCE"), destination="081211112222")
    page = browser.get(f"/customers/{customer.pk}/").content.decode()
    assert 'id="bought-sum" data-amount="36000"' in page
    assert re.findall(r'data-product="(\w+)"', page) == ["TSEL10"]
    other = Customer.objects.create(name="Pak Budi")
    assert 'id="bought-sum"' not in browser.get(f"/customers/{other.pk}/").content.decode()


def test_a_customers_open_complaints_lead_to_the_list_of_exactly_these(customer: Customer):
    cashier = make_person("cashier")
    browser = signed_in(cashier)
    theirs, others = (Order.objects.filter(destination=number)[0] for number in ("081211112222", "081233334444"))
    for order in (theirs, others):
        open_complaint(order, words="Not on the phone", actor=cashier)

    page = browser.get(f"/customers/{customer.pk}/").content.decode()

    address, count = re.findall(r'id="open-complaints"><a\s+href="([^"]+)">(\d+)</a>', page)[0]
    assert (address, count) == (f"/complaints/?customer={customer.pk}", "1")
    shown = browser.get(address).content.decode()
    assert (theirs.ref_id in shown, others.ref_id in shown) == (True, False)
    assert f"Customer: {customer.name}" in shown
    # who may not see whole numbers does not learn whose orders these are
    shown = browser_of("auditor").get(address).content.decode()
    assert (theirs.ref_id in shown, others.ref_id in shown, customer.name in shown) == (True, True, False)


def test_the_latest_orders_bring_their_payments(customer: Customer, django_assert_num_queries):
    latest = buying_of(Order.objects.all()).latest

    with django_assert_num_queries(0):
        assert [order.payment.method for order in latest] == ["cash"] * 4


def test_earnings_by_customer_count_each_order_once(customer: Customer):
    second = Customer.objects.create(name="Pak Budi")  # the same number, saved later
    SavedNumber.objects.create(customer=second, destination="081211112222", kind="phone")
    sold(ago(400), destination="081211112222")
    owing = give_credit("Bu Sri")
    sell_to(owing, 10_000, by=make_person("cashier"), destination="081211112222")

    page = browser_of("supervisor").get("/earnings/", {"by": "customer", "since": ago(500).date().isoformat()})

    lines = dict(re.findall(r'data-key="(\d*)" data-sales="(\d+)"', page.content.decode()))
    assert lines == {"": "12000", str(customer.pk): "36000", str(owing.pk): "0"}
    assert f'href="/customers/{customer.pk}/"' in page.content.decode()
    assert page.context["report"].chosen.period.first == ago(500).date()


def test_the_line_of_nobody_opens_exactly_its_orders(customer: Customer):
    supervisor = browser_of("supervisor")
    page = supervisor.get("/earnings/", {"by": "customer", "since": ago(10).date().isoformat()})

    [nobody] = [line for line in page.context["report"].lines if line.is_nobody]
    opened = supervisor.get(nobody.url)

    assert [order.destination for order in opened.context["filter"].qs] == ["081233334444"]
    assert (nobody.figures.placed, opened.context["filter"].form.errors) == (1, {})


def test_who_bought_is_named_to_people_who_see_customers_alone(customer: Customer):
    supervisor, auditor = browser_of("supervisor"), browser_of("auditor")
    for buyer, words, count in ((f"{customer.pk}", "Bu Sari", 3), ("nobody", "Nobody of the saved customers", 1)):
        asked = {"buyer": buyer, "days": "7"}

        own, other = (person.get("/orders/", asked).context["filter"] for person in (supervisor, auditor))

        assert [chip.words for chip in own.chosen] == [f"Bought by: {words}"]
        assert (own.qs.count(), other.qs.count()) == (count, 4)
        assert "buyer" not in other.form.fields
    assert "Bu Sari" not in auditor.get(f"/orders/?buyer={customer.pk}").content.decode()


def test_orders_of_a_buyer_are_found_in_all_days_and_nobody_else_is_one(customer: Customer):
    sold(ago(400), destination="081211112222")
    supervisor = browser_of("supervisor")

    assert supervisor.get(f"/orders/?buyer={customer.pk}").context["filter"].qs.count() == 4
    for buyer in (f"{customer.pk + 1}", "x", "9" * 19, "9" * 5_000):
        assert set(supervisor.get(f"/orders/?buyer={buyer}").context["filter"].form.errors) == {"buyer"}, buyer


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
    (figures,) = by_customer(figures_by("buyer", Period.of_days(day.date(), day.date())))
    assert {customer: figure.placed for customer, figure in figures.items()} == {kept.pk: 1}


def counted_for(days: int) -> dict[int | None, int]:
    """The number of orders of so many days ago that count for each customer."""
    day = ago(days).date()
    (of_customers,) = by_customer(figures_by("buyer", Period.of_days(day, day)))
    return {customer: figures.placed for customer, figures in of_customers.items()}


def test_a_sale_stays_that_of_who_bought_when_a_number_is_saved_moved_or_erased():
    first, cashier = Customer.objects.create(name="Bu Sari"), make_person("cashier")
    sold(ago(2), destination="081211112222")  # nobody has saved the number yet
    SavedNumber.objects.create(customer=first, destination="081211112222", kind="phone")
    sold(ago(2), destination="081211112222")
    sum_days()
    assert counted_for(2) == {None: 1, first.pk: 1}
    key = first.pk

    kept = merge_customers(Customer.objects.create(name="Sari"), first, name="Sari", note="", actor=cashier)
    assert counted_for(2) == {None: 1, kept.pk: 1}
    erase(kept.pk, actor=cashier)

    assert counted_for(2) == {None: 1, key: 1}
    assert prove_days(everything=True) == []
    page = browser_of("supervisor").get("/earnings/", {"by": "customer", "since": ago(3).date().isoformat()})
    assert [(line.words, line.url) for line in page.context["report"].lines] == [
        ("A customer who was erased", ""),
        ("Nobody of the saved customers", f"/orders/?since={ago(3).date()}&until={ago(0).date()}&buyer=nobody"),
    ]


def test_a_sale_that_is_put_on_credit_later_is_the_debtors():
    shift, debtor = begin(), give_credit("Bu Sri")
    order = sell(shift.cashier, 10_500)
    assert counted_for(0) == {None: 1}

    change_payment(order.payment, method="credit", customer=debtor, actor=shift.cashier)

    assert counted_for(0) == {debtor.pk: 1}


def test_sums_from_before_buyers_were_kept_are_nobodys():
    sold(ago(2))
    sum_days()
    with past_triggers() as cursor:
        cursor.execute("DELETE FROM earnings_daysum WHERE by = 'buyer'")
        cursor.execute(import_module("earnings.migrations.0002_by_buyer")._SUMS_OF_NOBODY)

    assert prove_days(everything=True) == []
    assert counted_for(2) == {None: 1}
