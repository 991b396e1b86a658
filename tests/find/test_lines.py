"""A line with days, an amount, a person or an ending finds its orders."""

from urllib.parse import urlencode

import pytest

from core.rights import Role
from testing.factories import make_product
from testing.people import make_person
from tests.find.helpers import NUMBER, addresses, found, sold, who

pytestmark = pytest.mark.django_db


def test_a_line_that_the_orders_understand_leads_to_them_and_a_product_comes_before(cashier):
    for line, listed in [
        ("50 ribu kemarin", ["/orders/?q=50+ribu+kemarin"]),
        ("akhiran 02", ["/orders/?q=akhiran+02"]),
        ("zzz", []),
        (NUMBER, []),
    ]:
        assert addresses(cashier, line, "orders") == listed, line

    make_product(name="Telkomsel 10.000")
    # a text that names days sells nothing
    assert "do" in found(cashier, "45 52000 19")
    assert "do" not in found(cashier, "45 52000 19 nov")
    assert "do" not in found(cashier, f"{NUMBER} kemarin")
    # an ending that nobody has finds no products
    for text in ("7391", "akhiran 7391", "81237391"):
        assert "products" not in found(cashier, text), text
    assert addresses(cashier, "10000", "products")
    # the list of orders gives way to a product that is named with its amount
    assert list(found(cashier, "tel 10")) == ["products"]
    assert addresses(cashier, "tel 02", "orders") == ["/orders/?q=tel+02"]


def test_a_line_with_an_amount_or_days_finds_its_orders_and_says_how_many_there_are():
    seller = make_person("cashier", username="kasir9", first_name="Kasir", last_name="Demo")
    orders = [sold(7, selling_price=52_000, destination=f"0812345678{n}02", placed_by=seller) for n in range(7)]
    other = sold(7, selling_price=90_000, destination="081234567802")
    supervisor = who(Role.SUPERVISOR)

    for text in ("50 ribu minggu lalu 02", "52000 last week 02", "kasir demo minggu lalu"):
        (listed, words), *hits = found(supervisor, text)["orders"]

        assert listed == f"/orders/?{urlencode({'q': text})}", text
        assert "7 " in words, text
        newest = [order.get_absolute_url() for order in sorted(orders, key=lambda row: row.created_at)[::-1]]
        assert [url for url, _words in hits] == newest[:5], text
    assert len(found(supervisor, "50 ribu minggu lalu", kind="orders")["orders"]) == 8
    only, last = found(supervisor, "90.000 minggu lalu")["orders"]
    assert (only[0], last[0]) == (other.get_absolute_url(), "/orders/?q=90.000+minggu+lalu")
    assert addresses(supervisor, "kasir demo minggu lalu", "staff") == [f"/staff/{seller.pk}/?days=last-week"]


def test_a_line_with_a_wrong_ending_offers_its_orders_without_it(cashier):
    sold(7, selling_price=52_000, destination="081234567802")

    (without, words), (listed, _zero) = found(cashier, "50 ribu minggu lalu 03")["orders"]

    assert listed == "/orders/?q=50+ribu+minggu+lalu+03"
    assert without == "/orders/?amount_from=45000&amount_to=55000&days=last-week"
    assert words.split(" ")[-2] == "1"
    assert len(found(cashier, "minggu lalu 03")["orders"]) == 2
    assert len(found(cashier, "20 ribu kemarin 03")["orders"]) == 1


def test_an_empty_list_of_orders_stands_behind_all_that_is_found(cashier):
    make_product(name="GoPay 50.000", code="GP50", brand="GoPay")

    results = found(cashier, "gopay 50.000")

    assert list(results) == ["products", "orders"]
    assert [url for url, _zero in results["orders"]] == ["/orders/?q=gopay+50.000"]


def test_a_products_own_name_in_a_line_is_no_price():
    gopay = make_product(name="GoPay 20.000", code="GP20", brand="GoPay")
    order = sold(1, product=gopay, selling_price=23_500)
    sold(1, selling_price=20_500)

    assert order.get_absolute_url() == addresses(who(Role.CASHIER), "gopay 20.000 kemarin", "orders")[0]


def test_a_number_with_days_finds_its_orders_of_these_days_alone(cashier):
    earlier, later = sold(1, destination=NUMBER), sold(destination=NUMBER)

    results = addresses(cashier, f"{NUMBER} kemarin", "orders")

    assert earlier.get_absolute_url() in results
    assert later.get_absolute_url() not in results


def test_digits_of_a_masked_number_narrow_no_line():
    sold(1, selling_price=50_000, destination="081234567802")
    auditor = who(Role.AUDITOR)

    for text in ("50rb kemarin 02", "50rb kemarin 99", "kemarin 7802"):
        assert all("/orders/?q=" in url for url in addresses(auditor, text, "orders")), text
