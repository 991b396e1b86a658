"""Saved customers: their numbers are kept, offered while typing, and their bills checked and paid together."""

import re
import uuid

import pytest
from django.utils import timezone

from bills.models import BillCheck
from purchases.models import Customer, Order, SavedNumber
from purchases.order_life import Status
from tests.factories import make_biller, make_check, make_order, make_payment, make_product
from tests.pages.conftest import browser_of, read_balance
from tests.pages.test_buying import words

pytestmark = pytest.mark.django_db


def make_customer(name="Bu Sari", *numbers, **facts) -> Customer:
    """A customer with numbers, each as (destination, product or kind)."""
    customer = Customer.objects.create(name=name, **facts)
    for destination, what in numbers:
        product = None if isinstance(what, str) else what
        kind = what if isinstance(what, str) else "phone" if what.type == "prepaid" else "customer"
        SavedNumber.objects.create(customer=customer, destination=destination, product=product, kind=kind)
    return customer


# --- keeping ------------------------------------------------------------------------------------------------------


def test_a_customer_is_added_changed_and_found_by_name_note_and_number(cashier):
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
    assert "No customer matches" in words(cashier.get("/customers/?q=zzz"))


def test_a_name_is_needed_once(cashier):
    make_customer("Bu Sari")

    assert "There is a customer with this name already." in words(cashier.post("/customers/add/", {"name": "bu sari"}))
    assert Customer.objects.count() == 1


@pytest.mark.parametrize(
    ("what", "typed", "stored"),
    [("kind:phone", "62812 3456 7890", "081234567890"), ("kind:meter", "1234 5678 901", "12345678901")],
)
def test_a_number_is_normalised_by_its_kind(cashier, what, typed, stored):
    customer = make_customer()

    cashier.post(f"/customers/{customer.pk}/numbers/", {"what": what, "destination": typed, "note": "rumah"})

    number = customer.numbers.get()
    assert (number.destination, number.note) == (stored, "rumah")


def test_a_number_at_a_biller_leads_to_its_check_and_one_for_a_product_to_buying_it(cashier):
    biller, product = make_biller(), make_product()
    customer = make_customer("Bu Sari", ("1234567890", biller), ("081234567890", product))

    page = cashier.get(f"/customers/{customer.pk}/").content.decode()

    assert f"/bills/check/{biller.code}/?destination=1234567890" in page
    assert f"/products/{product.code}/buy/?destination=081234567890" in page


def test_a_wrong_or_doubled_number_is_refused_beside_the_field(cashier):
    customer = make_customer("Bu Sari", ("081234567890", "phone"))

    def said(destination):
        fields = {"what": "kind:phone", "destination": destination}
        return words(cashier.post(f"/customers/{customer.pk}/numbers/", fields))

    assert "A mobile number starts with 08" in said("12")
    assert "Bu Sari has this number already." in said("0812 3456 7890")
    assert customer.numbers.count() == 1


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


def test_deleting_a_customer_asks_first_and_leaves_bills_and_orders(cashier):
    biller = make_biller()
    customer = make_customer("Bu Sari", ("1234567890", biller))
    check = make_check(product=biller, saved_number=customer.numbers.get())

    asked = cashier.get(f"/customers/{customer.pk}/delete/")
    assert "1 saved number is deleted too." in words(asked)
    assert Customer.objects.exists()

    cashier.post(f"/customers/{customer.pk}/delete/")
    assert not Customer.objects.exists()
    check.refresh_from_db()
    assert check.saved_number is None


def test_an_orders_number_is_saved_for_a_known_customer_or_a_new_one(cashier):
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


def test_a_refused_number_makes_no_customer(cashier):
    product = make_product()

    cashier.post(
        f"/customers/save/?product={product.code}",
        {"customer": "Bu Sari", "what": f"product:{product.code}", "destination": "12"},
    )

    assert not Customer.objects.exists()


# --- offered while typing -----------------------------------------------------------------------------------------


def offered(client, product, text):
    return words(client.get(f"/products/{product.code}/numbers/?destination={text}"))


def test_numbers_are_offered_by_name_or_number_where_they_fit(cashier):
    product, biller, other = make_product(), make_biller(), make_biller()
    make_customer("Bu Sari", ("081234567890", "phone"), ("1234567890", biller), ("12345678901", "meter"))

    assert "Bu Sari 0812-3456-7890" in offered(cashier, product, "sar")
    assert "Bu Sari 0812-3456-7890" in offered(cashier, product, "0812")
    assert "1234 5678" not in offered(cashier, product, "sar")
    assert "Bu Sari 1234 5678 90" in offered(cashier, biller, "12345")
    assert offered(cashier, other, "12345").strip() == ""
    assert offered(cashier, product, "s").strip() == ""


def test_a_chosen_number_is_filled_in(cashier):
    biller = make_biller()
    make_customer("Bu Sari", ("1234567890", biller))
    page = cashier.get(f"/products/{biller.code}/numbers/?destination=sari").content.decode()
    query = re.search(r'data-pick href="(\?[^"]+)"', page).group(1)

    assert 'value="1234567890"' in cashier.get(f"/bills/check/{biller.code}/{query}").content.decode()


def test_the_same_number_is_offered_once_and_the_products_own_comes_first(cashier):
    product = make_product()
    make_customer("Ani", ("081200000001", "phone"))
    make_customer("Zul", ("081200000002", "phone"), ("081200000002", product))

    page = offered(cashier, product, "0812")

    assert page.count("Zul") == 1
    assert page.index("Zul") < page.index("Ani")


def test_a_customers_name_finds_the_saved_bills_in_the_list_of_billers(cashier):
    biller = make_biller()
    make_customer("Bu Sari", ("1234567890", biller))

    page = cashier.get("/bills/check/?q=sari").content.decode()

    assert f"/bills/check/{biller.code}/?destination=1234567890" in page


# --- all bills of a customer at once ------------------------------------------------------------------------------


def start_batch(client, customer):
    return client.post(f"/bills/batch/customer/{customer.pk}/")["Location"]


def answer(batch_check, **facts):
    """The biller has answered this check of a batch with a bill."""
    told = {
        "answer": "bill",
        "customer_name": "SITI AMINAH",
        "period": "Nov 2026",
        "amount": 100_000,
        "admin_fee": 2_500,
        "penalty": 0,
        "total": 102_500,
        "expires_at": timezone.now() + timezone.timedelta(minutes=5),
        "answered_at": timezone.now(),
        "next_ask_at": None,
    }
    BillCheck.objects.filter(pk=batch_check.pk).update(**{**told, **facts})


def test_all_saved_bills_are_checked_together_with_progress(cashier):
    first, second = make_biller(), make_biller()
    customer = make_customer("Bu Sari", ("1111", first), ("2222", second), ("081234567890", "phone"))

    address = start_batch(cashier, customer)
    waiting = cashier.get(address).content.decode()
    live = re.search(r'hx-get="([^"]+/live/[^"]+)"', waiting).group(1)
    unchanged = cashier.get(live).content.decode()
    answer(BillCheck.objects.get(destination="1111"))
    changed = cashier.get(live).content.decode()

    assert BillCheck.objects.count() == 2
    assert "0 of 2 answered" in waiting
    assert "batch-row" not in unchanged
    assert "1 of 2 answered" in changed
    assert changed.count("batch-row") == 1
    assert "Rp102.500" in changed


def test_a_disturbed_biller_is_left_out_and_said(cashier):
    good, bad = make_biller(), make_biller(availability="inactive")
    customer = make_customer("Bu Sari", ("1111", good), ("2222", bad))

    page = cashier.post(f"/bills/batch/customer/{customer.pk}/", follow=True)

    assert "1 bill was left out: its biller is disturbed." in words(page)
    assert BillCheck.objects.get().product == good


def test_a_customer_whose_billers_are_all_disturbed_starts_nothing(cashier):
    customer = make_customer("Bu Sari", ("2222", make_biller(availability="inactive")))

    page = cashier.post(f"/bills/batch/customer/{customer.pk}/", follow=True)

    assert "None of this customer's bills can be checked just now." in words(page)


def test_the_chosen_ones_are_reviewed_with_a_grand_total_and_the_balance_after(cashier):
    billers = [make_biller() for _ in range(3)]
    customer = make_customer("Bu Sari", *[(f"1111{i}", biller) for i, biller in enumerate(billers)])
    address = start_batch(cashier, customer)
    checks = list(BillCheck.objects.order_by("pk"))
    for check in checks[:2]:
        answer(check)
    read_balance(500_000)

    chosen = "&".join(f"bill={check.ref_id}" for check in checks)
    page = cashier.get(f"{address}review/?{chosen}")

    for fact in ("2 bills together", "Rp205.000", "Rp295.000", "1 chosen bill can no longer be paid"):
        assert fact in words(page)
    assert not Order.objects.exists()


def test_a_bill_that_is_paid_already_is_not_offered_and_leads_to_its_payment(cashier):
    biller = make_biller()
    paid = make_check(product=biller, destination="1111", period="Nov 2026")
    make_payment(paid, Status.SUCCESS)
    address = start_batch(cashier, make_customer("Bu Sari", ("1111", biller)))
    answer(BillCheck.objects.latest("pk"))

    page = cashier.get(address)

    assert "This bill is already paid." in words(page)
    assert f'href="/orders/{paid.ref_id}/"' in page.content.decode()
    assert 'name="bill"' not in page.content.decode()


def test_each_bill_is_a_payment_of_its_own_and_a_refused_one_does_not_stop_the_others(cashier):
    billers = [make_biller() for _ in range(3)]
    customer = make_customer("Bu Sari", *[(f"1111{i}", biller) for i, biller in enumerate(billers)])
    address = start_batch(cashier, customer)
    checks = list(BillCheck.objects.order_by("pk"))
    for check in checks:
        answer(check)
    review = cashier.get(f"{address}review/?" + "&".join(f"bill={check.ref_id}" for check in checks))
    fields = re.findall(r'name="bill" value="([^"]+)"', review.content.decode())
    BillCheck.objects.filter(pk=checks[1].pk).update(total=110_000)

    pages = [cashier.post(f"{address}pay/", {"bill": fields}, follow=True) for _ in range(2)]

    assert {order.ref_id for order in Order.objects.all()} == {checks[0].ref_id, checks[2].ref_id}
    assert "2 payments placed." in words(pages[0])
    assert "1 bill was not paid; see why below." in words(pages[0])
    assert "The total is now Rp110.000. Confirm it again." in words(pages[0])
    for check in (checks[0], checks[2]):
        assert f"/orders/{check.ref_id}/" in pages[0].content.decode()


def test_nothing_chosen_and_forged_choices_pay_nothing(cashier):
    customer = make_customer("Bu Sari", ("1111", make_biller()))
    address = start_batch(cashier, customer)
    answer(BillCheck.objects.get())
    stranger = make_check()

    page = cashier.get(f"{address}review/", follow=True)
    cashier.post(f"{address}pay/", {"bill": [f"{stranger.ref_id}:{stranger.total}", "x", ":", "B1:-5"]})

    assert "Choose at least one bill that can be paid." in words(page)
    assert not Order.objects.exists()


def test_a_paid_batch_shows_each_payment(cashier):
    batch = uuid.uuid4()
    check = make_check(batch=batch)
    make_payment(check, Status.SUCCESS)

    page = cashier.get(f"/bills/batch/{batch}/")

    assert "Success" in words(page)
    assert "Nothing here can be paid now." in words(page)
    assert "hx-get" not in page.content.decode()


def test_an_unknown_batch_is_a_404(cashier):
    assert cashier.get(f"/bills/batch/{uuid.uuid4()}/").status_code == 404


# --- who may ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["auditor", ""])
def test_customers_are_not_for_everybody(role):
    customer = make_customer("Bu Sari", ("081234567890", "phone"))
    number = customer.numbers.get()
    somebody = browser_of(role)

    for page in (
        "/customers/",
        f"/customers/{customer.pk}/",
        "/customers/add/",
        f"/products/{make_product().code}/numbers/",
    ):
        assert somebody.get(page).status_code == 403
    for action in (f"{customer.pk}/delete/", f"{customer.pk}/edit/", f"numbers/{number.pk}/delete/"):
        assert somebody.post(f"/customers/{action}").status_code == 403
    assert SavedNumber.objects.exists()


def test_an_auditor_does_not_pay_a_batch(auditor):
    batch = uuid.uuid4()
    check = make_check(batch=batch)

    assert 'type="checkbox" name="bill"' not in auditor.get(f"/bills/batch/{batch}/").content.decode()
    assert auditor.get(f"/bills/batch/{batch}/review/?bill={check.ref_id}").status_code == 403
    assert auditor.post(f"/bills/batch/{batch}/pay/", {"bill": f"{check.ref_id}:{check.total}"}).status_code == 403
