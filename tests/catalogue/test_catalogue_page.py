"""A product is found by words, by category and brand, and by a phone number."""

import datetime as dt
import re

import pytest
import time_machine
from django.utils import timezone

from catalogue.models import Brand
from testing.factories import make_product
from tests.core.helpers import has_id

pytestmark = pytest.mark.django_db


def product(name, **facts):
    made = make_product(name=name, **facts)
    Brand.objects.filter(pk=made.brand_id).update(name=facts.get("brand", "telkomsel").title())
    return made


def names(answer) -> list[str]:
    return re.findall(r'class="product-(?:link|name)"[^>]*>([^<]+)<', answer.content.decode())


def test_every_word_must_match_with_or_without_dots(cashier):
    product("Telkomsel 10.000")
    product("Telkomsel 5.000", price=5_250)
    product("Indosat 10.000", brand="indosat")

    assert names(cashier.get("/products/?q=telkomsel 10.000")) == ["Telkomsel 10.000"]
    assert names(cashier.get("/products/?q=10000 TELKOM")) == ["Telkomsel 10.000"]


def test_what_begins_as_typed_comes_before_what_merely_holds_it(cashier):
    product("Paket Telkomsel 1 GB", price=9_000)
    product("Telkomsel 10.000", price=10_250)

    assert names(cashier.get("/products/?q=telkomsel")) == ["Telkomsel 10.000", "Paket Telkomsel 1 GB"]


def test_category_and_brand_narrow_and_drop_a_foreign_brand(cashier):
    product("Telkomsel 10.000")
    product("Free Fire 5", category="game", brand="free-fire")

    assert names(cashier.get("/products/?category=game")) == ["Free Fire 5"]
    assert names(cashier.get("/products/?category=pulsa&brand=telkomsel")) == ["Telkomsel 10.000"]
    assert names(cashier.get("/products/?category=game&brand=telkomsel")) == ["Free Fire 5"]


def test_typing_fetches_only_results_and_sets_the_address(cashier):
    product("Telkomsel 10.000")

    answer = cashier.get("/products/?q=telkomsel&category=&brand=&destination=", headers={"HX-Request": "true"})

    assert "<html" not in answer.content.decode()
    assert names(answer) == ["Telkomsel 10.000"]
    assert answer["HX-Replace-Url"] == "/products/?q=telkomsel"


def test_given_a_phone_number_only_its_operators_are_listed(cashier):
    product("Axis 5.000", brand="axis", price=5_000)
    product("Telkomsel 10.000", price=10_250)

    answer = cashier.get("/products/?destination=0812 3456 7890")

    page = answer.content.decode()
    assert names(answer) == ["Telkomsel 10.000"]
    assert "0812-3456-7890" in page
    assert "&amp;q=0812+3456+7890" in page


def test_a_number_and_a_denomination_are_typed_in_one_field(cashier):
    for rupiah, name in ((1_250, "Telkomsel 1.000"), (10_250, "Telkomsel 10.000"), (25_250, "Telkomsel 25.000")):
        product(name, price=rupiah)
    product("XL 10.000", brand="xl", price=10_100)

    answer = cashier.get("/products/?q=081290000001 10", headers={"HX-Request": "true"})

    assert names(answer) == ["Telkomsel 10.000", "Telkomsel 25.000"]
    assert "0812-9000-0001" in answer.content.decode()
    assert answer["HX-Replace-Url"] == "/products/?q=10&destination=081290000001"


def test_a_number_among_the_words_is_the_one_that_counts(cashier):
    product("Telkomsel 10.000", price=10_250)
    product("XL 10.000", brand="xl", price=10_100)

    answer = cashier.get("/products/?q=081290000001 10&destination=087800000001")

    assert names(answer) == ["Telkomsel 10.000"]
    assert ";q=081290000001" in answer.content.decode()


def test_a_denomination_that_is_not_sold_is_said(cashier):
    product("Telkomsel 15.000", price=15_250)

    assert has_id(cashier.get("/products/?q=tsel 12"), "lacking")
    assert not has_id(cashier.get("/products/?q=tsel 15"), "lacking")


def test_a_changed_catalogue_is_found_as_it_is_now(cashier):
    made = product("Telkomsel 10.000")
    assert names(cashier.get("/products/?q=tsel 10")) == ["Telkomsel 10.000"]

    type(made).objects.filter(pk=made.pk).update(name="Telkomsel Promo 10.000")
    product("Telkomsel 10.000 Malam", price=9_000)

    assert names(cashier.get("/products/?q=tsel 10")) == ["Telkomsel 10.000 Malam", "Telkomsel Promo 10.000"]
    type(made).objects.all().update(is_listed=False)
    assert names(cashier.get("/products/?q=tsel 10")) == []


def test_a_search_takes_few_queries_however_much_it_finds(cashier, django_assert_max_num_queries):
    for at in range(30):
        product(f"Telkomsel {at}.000", price=at * 1_000 + 250)
    cashier.get("/products/?q=tsel 10")

    with django_assert_max_num_queries(10):
        cashier.get("/products/?q=081290000001 10")


def test_bills_are_listed_with_their_fee_and_lead_to_the_counter(cashier):
    bill = product("PDAM Gresik", type="postpaid", price=0, admin_fee=2_500, category="pdam", brand="pdam")

    page = cashier.get("/products/?q=pdam").content.decode()

    assert "PDAM Gresik" in page
    assert "Rp2.500" in page
    assert f'href="/counter/?product={bill.code}"' in page


def test_a_product_that_the_provider_lacks_says_so(cashier):
    product("Telkomsel 10.000", availability="inactive")

    assert "status-warn" in cashier.get("/products/").content.decode()


def test_the_cut_off_is_shown_and_said_when_it_is_on(cashier):
    hours = {"cut_off_start": dt.time(23, 30), "cut_off_end": dt.time(0, 30)}
    product("Token PLN 20.000", category="token-pln", brand="pln", **hours)

    for moment, words, is_held in (("12:00", "23:30–00:30", False), ("23:45", "00:30", True)):
        with time_machine.travel(f"2026-08-22T{moment}:00+07:00", tick=False):
            page = cashier.get("/products/").content.decode()
        assert words in page
        assert ("status-held" in page) is is_held


def test_an_unavailable_product_says_until_when_if_it_is_closed(cashier):
    now = timezone.localtime()
    hours = {"cut_off_start": (now - dt.timedelta(hours=1)).time(), "cut_off_end": (now + dt.timedelta(hours=1)).time()}
    made = product("Token PLN 20.000", category="token-pln", brand="pln", availability="inactive", **hours)
    until = f"{made.cut_off_end:%H:%M}"

    for page in ("/products/", f"/counter/review/?product={made.code}&q=12345678901"):
        shown = cashier.get(page).content.decode()
        assert "status-held" in shown or "note-held" in shown
        assert until in shown


def test_what_the_upstream_no_longer_lists_is_not_shown(cashier):
    product("Telkomsel 10.000", is_listed=False)

    assert "Telkomsel 10.000</" not in cashier.get("/products/").content.decode()


def test_many_products_come_in_portions_one_after_another(cashier):
    for i in range(70):
        product(f"Telkomsel {i:03}", price=1_000 + i)

    first = cashier.get("/products/")
    more = re.search(r'hx-get="([^"]+)"', first.content.decode().split('class="more"')[1])
    second = cashier.get(more.group(1), headers={"HX-Request": "true"})

    assert len(names(first)) == 60
    assert len(names(second)) == 10
    assert not set(names(first)) & set(names(second))


def test_no_query_breaks_the_page(cashier):
    product("Telkomsel 10.000")

    for query in ["q=zzz", "q=%00", "category=none", "page=99", "page=x", "q=%25_", "destination=%2B62"]:
        assert cashier.get(f"/products/?{query}").status_code == 200, query


def test_nothing_found_and_nothing_there_read_differently(cashier):
    assert has_id(cashier.get("/products/"), "none-yet")
    product("Telkomsel 10.000")
    assert has_id(cashier.get("/products/?q=zzz"), "none-matches")
