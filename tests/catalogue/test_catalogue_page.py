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


def test_every_word_must_match_and_category_and_brand_narrow(cashier):
    assert has_id(cashier.get("/products/"), "none-yet")
    product("Telkomsel 10.000", price=10_250)
    product("Telkomsel 5.000", price=5_250)
    product("Paket Telkomsel 1 GB", price=9_000)
    product("Indosat 10.000", brand="indosat")
    product("Free Fire 5", category="game", brand="free-fire")

    for query, found in [
        ("q=telkomsel 10.000", ["Telkomsel 10.000"]),
        ("q=10000 TELKOM", ["Telkomsel 10.000"]),
        # what begins as typed comes before what merely holds it
        ("q=telkomsel", ["Telkomsel 5.000", "Telkomsel 10.000", "Paket Telkomsel 1 GB"]),
        ("category=game", ["Free Fire 5"]),
        ("category=pulsa&brand=indosat", ["Indosat 10.000"]),
        ("category=game&brand=telkomsel", ["Free Fire 5"]),  # the foreign brand is dropped
    ]:
        assert names(cashier.get(f"/products/?{query}")) == found, query
    assert has_id(cashier.get("/products/?q=zzz"), "none-matches")

    # typing fetches only results and sets the address
    answer = cashier.get("/products/?q=10000 TELKOM&category=&brand=&destination=", headers={"HX-Request": "true"})
    assert "<html" not in answer.content.decode()
    assert names(answer) == ["Telkomsel 10.000"]
    assert answer["HX-Replace-Url"] == "/products/?q=10000+TELKOM"

    for query in ["q=%00", "category=none", "page=99", "page=x", "q=%25_", "destination=%2B62"]:
        assert cashier.get(f"/products/?{query}").status_code == 200, query


def test_given_a_phone_number_only_its_operators_are_listed(cashier):
    for rupiah, name in ((1_250, "Telkomsel 1.000"), (10_250, "Telkomsel 10.000"), (25_250, "Telkomsel 25.000")):
        product(name, price=rupiah)
    product("XL 10.000", brand="xl", price=10_100)

    answer = cashier.get("/products/?destination=0812 3456 7890")
    page = answer.content.decode()
    assert names(answer) == ["Telkomsel 1.000", "Telkomsel 10.000", "Telkomsel 25.000"]
    assert "0812-3456-7890" in page
    assert "&amp;q=0812+3456+7890" in page

    # a number and a denomination in one field
    answer = cashier.get("/products/?q=081290000001 10", headers={"HX-Request": "true"})
    assert names(answer) == ["Telkomsel 10.000", "Telkomsel 25.000"]
    assert "0812-9000-0001" in answer.content.decode()
    assert answer["HX-Replace-Url"] == "/products/?q=10&destination=081290000001"

    # a number among the words is the one that counts
    answer = cashier.get("/products/?q=081290000001 10&destination=087800000001")
    assert names(answer) == ["Telkomsel 10.000", "Telkomsel 25.000"]
    assert ";q=081290000001" in answer.content.decode()

    assert has_id(cashier.get("/products/?q=tsel 12"), "lacking")
    assert not has_id(cashier.get("/products/?q=tsel 25"), "lacking")


def test_a_changed_catalogue_is_found_as_it_is_now(cashier):
    made = product("Telkomsel 10.000")
    assert names(cashier.get("/products/?q=tsel 10")) == ["Telkomsel 10.000"]

    type(made).objects.filter(pk=made.pk).update(name="Telkomsel Promo 10.000")
    product("Telkomsel 10.000 Malam", price=9_000)

    assert names(cashier.get("/products/?q=tsel 10")) == ["Telkomsel 10.000 Malam", "Telkomsel Promo 10.000"]
    type(made).objects.all().update(is_listed=False)
    assert names(cashier.get("/products/?q=tsel 10")) == []


def test_bills_are_listed_with_their_fee_and_what_the_provider_lacks_says_so(cashier):
    bill = product("PDAM Gresik", type="postpaid", price=0, admin_fee=2_500, category="pdam", brand="pdam")
    product("Telkomsel 5.000", is_listed=False)

    page = cashier.get("/products/?q=pdam").content.decode()

    assert "PDAM Gresik" in page
    assert "Rp2.500" in page
    assert f'href="/counter/?product={bill.code}"' in page
    every = cashier.get("/products/").content.decode()
    assert ("Telkomsel 5.000</" in every, "status-warn" in every) == (False, False)

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


def test_many_products_come_in_portions_by_few_queries(cashier, django_assert_max_num_queries):
    for i in range(70):
        product(f"Telkomsel {i}.000", price=i * 1_000 + 250)

    first = cashier.get("/products/")
    more = re.search(r'hx-get="([^"]+)"', first.content.decode().split('class="more"')[1])
    second = cashier.get(more.group(1), headers={"HX-Request": "true"})

    assert len(names(first)) == 60
    assert len(names(second)) == 10
    assert not set(names(first)) & set(names(second))
    with django_assert_max_num_queries(10):
        cashier.get("/products/?q=081290000001 10")
