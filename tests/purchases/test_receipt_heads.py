"""The facts of the shop, the meter and the person on a receipt; and a print that never changes."""

import pytest

from purchases.models import ReceiptPrint
from purchases.presenting import SerialNumber
from purchases.receipts import MeterOwner
from purchases.states import Status
from shop.services import current_shop
from staff.models import User
from testing.factories import make_order, make_product
from testing.people import browser_of
from tests.shop.helpers import file_of, papers_of, png, save, text_of

pytestmark = pytest.mark.django_db


def print_it(browser, order, paper="58"):
    return browser.post(f"/orders/{order.ref_id}/receipt/", {"paper": paper}, follow=True)


def make_bought(**facts):
    return make_order(Status.SUCCESS, sn="5985080747136515", price=10_500, **facts)


def token_of(sn):
    product = make_product(name="Token PLN 20.000", category="token-pln", brand="pln")
    return make_order(Status.SUCCESS, product=product, destination="12345678901", sn=sn)


def test_a_receipt_shows_the_shop_its_cashier_and_its_footer(admin, cashier):
    save(admin, logo=file_of(png()))
    order = make_bought(placed_by=User.objects.get(username="cashier"))

    [paper] = papers_of(print_it(cashier, order))

    for fact in ("Toko Maju", "Jl. Merdeka 1", "Bandung", "0812 3456 7890", "tidak dapat ditukar", "Cashier: cashier"):
        assert fact in text_of(paper)
    assert f'src="/shop/logo/{current_shop().logo_id}/"' in paper


def test_a_print_keeps_the_shop_of_its_day_and_so_do_its_copies(admin, cashier):
    save(admin)
    order, later = make_bought(), make_bought(destination="081234567899")
    print_it(cashier, order)

    save(admin, name="Toko Jaya", address="Jl. Baru 9")
    pages = [
        cashier.get(f"/orders/{order.ref_id}/receipt/1/"),
        cashier.get(f"/orders/{order.ref_id}/receipt/"),
        print_it(cashier, order),
    ]

    for page in pages:
        [paper] = papers_of(page)
        assert "Toko Maju" in paper
        assert "Jl. Baru 9" not in paper
    assert "Toko Jaya" in papers_of(print_it(cashier, later))[0]


def test_a_print_of_before_the_settings_keeps_the_name_of_then(admin, cashier, settings):
    settings.SHOP_NAME = "Toko Lama"
    order = make_bought()
    print_it(cashier, order)

    save(admin)

    assert "Toko Lama" in papers_of(cashier.get(f"/orders/{order.ref_id}/receipt/1/"))[0]


def test_a_print_without_a_version_shows_the_shop_as_it_is(admin, cashier):
    order = make_bought()
    ReceiptPrint.objects.create(order=order, number=1, paper="58", printed_by=User.objects.get(username="cashier"))

    save(admin)

    assert "Toko Maju" in papers_of(cashier.get(f"/orders/{order.ref_id}/receipt/1/"))[0]


def test_the_shops_paper_is_the_first_choice(admin, cashier):
    save(admin, paper="a5")

    assert "struk-a5" in papers_of(cashier.get(f"/orders/{make_bought().ref_id}/receipt/"))[0]


@pytest.mark.parametrize(("language", "word"), [("", "Product"), ("id", "Produk"), ("en", "Product")])
def test_a_receipt_is_in_the_shops_language_if_it_has_one(admin, cashier, language, word):
    save(admin, language=language)

    [paper] = papers_of(print_it(cashier, make_bought()))

    assert f"<dt>{word}</dt>" in paper


@pytest.mark.parametrize(
    ("rest", "owner"),
    [
        ("BUDI SANTOSO/R1/1300VA/32,5", ("BUDI SANTOSO", "R1 / 1300 VA", "32,5 kWh", "")),
        ("BUDI/R1M/000900VA/12.34 kWh", ("BUDI", "R1M / 900 VA", "12,34 kWh", "")),
        ("BUDI/r-1/1300/32.5", ("BUDI", "R-1 / 1300 VA", "32,5 kWh", "")),
        ("BUDI/R1M/1300VA/1.032,5", ("BUDI", "R1M / 1300 VA", "1.032,5 kWh", "")),
        ("BUDI SANTOSO", ("BUDI SANTOSO", "", "", "")),
        ("R1/1300VA", ("", "R1 / 1300 VA", "", "")),
        ("BUDI/R1/1300VA/32,5/REF 77", ("BUDI", "R1 / 1300 VA", "32,5 kWh", "REF 77")),
        ("4711", ("", "", "", "4711")),
        ("", ("", "", "", "")),
    ],
)
def test_what_follows_a_token_is_read_as_far_as_it_is_known(rest, owner):
    serial = SerialNumber("1", "1", rest.replace("/", " · "), is_token=True)

    read = MeterOwner.read(serial)

    assert (read.name, read.tariff, read.energy, read.rest) == owner


def test_a_token_stands_in_five_groups_with_name_and_tariff(cashier):
    order = token_of("27880111795691503095/BUDI SANTOSO/R1/1300VA/32,5")

    [paper] = papers_of(print_it(cashier, order))

    assert paper.count("<span>") == 5
    assert "Name BUDI SANTOSO Tariff/power R1 / 1300 VA Energy 32,5 kWh" in text_of(paper)
    assert "2788 0111 7956 9150 3095" in text_of(paper)


def test_a_receipt_takes_few_queries(cashier, django_assert_max_num_queries):
    order = make_bought()
    print_it(cashier, order)

    for address in (f"/orders/{order.ref_id}/receipt/", f"/orders/{order.ref_id}/receipt/1/"):
        with django_assert_max_num_queries(9):
            cashier.get(address)


def test_an_auditor_sees_the_logo_and_a_stranger_does_not(admin, client):
    save(admin, logo=file_of(png()))
    address = f"/shop/logo/{current_shop().logo_id}/"

    assert browser_of("auditor").get(address).status_code == 200
    assert client.get(address).status_code == 302
