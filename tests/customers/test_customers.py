"""Saved customers: their numbers are kept, and lead to the counter."""

import re

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext

from audit.models import AuditEvent
from customers.events import CUSTOMER_ERASED
from customers.models import Customer, SavedNumber
from purchases.states import Status
from testing.factories import make_biller, make_check, make_order, make_product
from testing.people import make_person, signed_in
from tests.core.helpers import cells, has_id, words
from tests.customers.helpers import erase, make_customer, refused
from tests.plans import MOST, asked, too_wide
from tests.purchases.magic import killed

pytestmark = pytest.mark.django_db


def test_a_name_in_a_text_is_looked_up_by_the_index_and_counts_if_one_customer_has_it():
    Customer.objects.bulk_create([Customer(name=f"Bu Ani {number}") for number in range(MOST + 1)])
    wanted = make_customer("Bu Lilis")
    for name in ("Pak Budi", "pak budi"):
        make_customer(name)

    with CaptureQueriesContext(connection) as queries:
        found = Customer.objects.called_in("50rb, bu lilis, pak budi bulan ini")

    assert found == {"BU LILIS": wanted.pk}
    assert list(too_wide(asked(queries.captured_queries), {"customers_customer"})) == []


# --- keeping ------------------------------------------------------------------------------------------------------


def test_a_customer_is_added_changed_and_found_by_every_field(cashier):
    added = cashier.post("/customers/add/", {"name": "Bu Sari", "note": "Blok C 4"})
    customer = Customer.objects.get()
    cashier.post(f"/customers/{customer.pk}/numbers/", {"what": "kind:phone", "destination": "+62 812-3456-7890"})
    cashier.post(f"/customers/{customer.pk}/edit/", {"name": "Bu Sari Warung", "note": "Blok C 4"})
    make_customer("Pak Budi")

    assert added["Location"] == f"/customers/{customer.pk}/"
    assert customer.created_by.username == "cashier"
    for query in ("sari", "blok", "0812"):
        page = words(cashier.get(f"/customers/?q={query}"))
        assert "Bu Sari Warung" in page
        assert "Pak Budi" not in page
    assert has_id(cashier.get("/customers/?q=zzz"), "none-matches")


def test_a_number_is_normalised_by_its_kind_which_the_page_says(cashier):
    customer = make_customer()

    for what, typed, stored, counted in (
        ("kind:phone", "62812 3456 7890", "081234567890", "1 number"),
        ("kind:meter", "1234 5678 901", "12345678901", "2 numbers"),
    ):
        cashier.post(f"/customers/{customer.pk}/numbers/", {"what": what, "destination": typed, "note": "rumah"})

        number = customer.numbers.latest("pk")
        assert (number.destination, number.note) == (stored, "rumah")
        assert cells(cashier.get("/customers/"), "count") == [counted]
    assert "Electricity meter" in cashier.get(customer.get_absolute_url()).content.decode()


def test_a_biller_number_leads_to_its_check_others_to_buying(cashier):
    biller, product = make_biller(), make_product()
    customer = make_customer("Bu Sari", ("1234567890", biller), ("081234567890", product))

    page = cashier.get(f"/customers/{customer.pk}/").content.decode()

    assert f"/counter/review/?product={biller.code}&amp;q=1234567890" in page
    assert f"/counter/review/?product={product.code}&amp;q=081234567890" in page


def test_a_wrong_or_doubled_name_or_number_is_refused_beside_the_field(cashier):
    customer = make_customer("Bu Sari", ("081234567890", "phone"))

    def faults(destination):
        fields = {"what": "kind:phone", "destination": destination}
        return refused(cashier.post(f"/customers/{customer.pk}/numbers/", fields), "destination")

    assert faults("12") == ["InvalidDestination"]
    assert faults("0812 3456 7890") == ["AlreadySaved"]
    assert customer.numbers.count() == 1
    assert refused(cashier.post("/customers/add/", {"name": "bu sari"}), "name") == ["name_taken"]
    assert Customer.objects.count() == 1


def test_a_number_is_changed_and_deleted(cashier):
    biller = make_biller()
    number = make_customer("Bu Sari", ("1234567890", biller)).numbers.get()
    form = cashier.get(f"/customers/numbers/{number.pk}/edit/").content.decode()

    cashier.post(
        f"/customers/numbers/{number.pk}/edit/",
        {"what": f"product:{biller.code}", "destination": "55556666", "note": "toko"},
    )
    number.refresh_from_db()
    assert 'value="1234567890"' in form
    assert f"/customers/numbers/{number.pk}/delete/" in form
    assert (number.destination, number.product, number.note) == ("55556666", biller, "toko")

    cashier.post(f"/customers/numbers/{number.pk}/delete/")
    assert not SavedNumber.objects.exists()


def test_deleting_a_customer_asks_and_keeps_bills_and_orders(cashier):
    biller = make_biller()
    customer = make_customer("Bu Sari", ("1234567890", biller))
    check = make_check(product=biller, saved_number=customer.numbers.get())

    asked = cashier.get(f"/customers/{customer.pk}/delete/")
    assert re.search(r'id="deleted-too">\s*1 ', asked.content.decode())
    assert Customer.objects.exists()

    erase(cashier, customer)
    assert not Customer.objects.exists()
    check.refresh_from_db()
    assert check.saved_number is None
    event = AuditEvent.objects.get(kind=CUSTOMER_ERASED.key)
    assert (event.subject, event.before, event.after, event.facts) == (f"customer {customer.pk}", None, None, None)


def test_an_order_names_the_customer_who_has_its_number_saved(cashier):
    order = make_order(Status.SUCCESS)
    address = f"/orders/{order.ref_id}/"
    assert "/customers/save/" in cashier.get(address).content.decode()
    customer = make_customer("Bu Sari", (order.destination, "phone"))

    page = cashier.get(address).content.decode()

    assert re.search(rf'href="{customer.get_absolute_url()}"[^>]*>Bu Sari<', page)
    assert "/customers/save/" not in page
    sees_no_number = make_person("viewer")
    assert "Bu Sari" not in signed_in(sees_no_number).get(address).content.decode()
    sees_no_number.user_permissions.add(Permission.objects.get(codename="view_customer"))
    assert "Bu Sari" not in signed_in(sees_no_number).get(address).content.decode()


def test_a_bill_names_the_customer_who_has_its_number_saved(cashier):
    check = make_check()
    address = f"/bills/{check.ref_id}/"
    elsewhere = make_customer("Pak Budi")
    SavedNumber.objects.create(customer=elsewhere, destination=check.destination, kind="other", product=make_biller())
    assert "/customers/save/" in cashier.get(address).content.decode(), "Pak Budi has it at another biller"
    customer = make_customer("Bu Sari")
    SavedNumber.objects.create(customer=customer, destination=check.destination, kind="other", product=check.product)

    page = cashier.get(address).content.decode()

    assert re.search(rf'href="{customer.get_absolute_url()}"[^>]*>Bu Sari<', page)
    assert ("/customers/save/" in page, "Pak Budi" in page) == (False, False)
    assert "Bu Sari" not in signed_in(make_person("viewer")).get(address).content.decode()


def test_an_orders_number_is_saved_for_a_known_or_new_customer(cashier):
    order = make_order(Status.SUCCESS)
    link = re.search(r'href="(/customers/save/[^"]+)"', cashier.get(f"/orders/{order.ref_id}/").content.decode())
    address = link.group(1).replace("&amp;", "&")
    fields = {"what": f"product:{order.product_code}", "destination": order.destination}

    page = cashier.get(address).content.decode()
    cashier.post(address, {**fields, "customer": "Bu Sari"})
    make_customer("Pak Budi")
    cashier.post(address, {**fields, "customer": "pak budi"})

    assert f'value="{order.destination}"' in page
    assert sorted(number.customer.name for number in SavedNumber.objects.all()) == ["Bu Sari", "Pak Budi"]
    assert {number.product for number in SavedNumber.objects.all()} == {order.product}
    assert Customer.objects.count() == 2


def test_a_refused_number_or_a_crash_makes_no_customer(cashier, monkeypatch):
    product = make_product()
    address = f"/customers/save/?product={product.code}"
    fields = {"customer": "Bu Sari", "what": f"product:{product.code}"}

    cashier.post(address, {**fields, "destination": "12"})
    assert not Customer.objects.exists()

    monkeypatch.setattr("customers.views.save_number", killed)
    with pytest.raises(KeyboardInterrupt):
        cashier.post(address, {**fields, "destination": "081234567890"})
    assert not Customer.objects.exists()


# --- who may ------------------------------------------------------------------------------------------------------
