"""The offers of the counter's field for a typed text, and the tile that it picks."""

import datetime as dt
import re
from urllib.parse import quote

import pytest
from django.utils import timezone

from catalogue.marks import mark_of
from catalogue.models import Brand, Category, ProductHealth
from customers.models import Customer, SavedNumber
from purchases.models import Order
from purchases.states import Status
from staff.models import User
from testing.factories import make_biller, make_order, make_product
from testing.people import browser_of, make_person
from tests.core.helpers import codes, has_id, words, words_at
from tests.counter.helpers import NUMBER, offers, review, send, tiles

pytestmark = pytest.mark.django_db


def test_a_number_offers_its_operators_denominations_of_which_an_amount_picks_one(cashier, telkomsel):
    make_product(name="XL 10.000", brand="xl").brand.__class__.objects.filter(code="xl").update(name="XL")

    page, picked, lacking = (offers(cashier, text) for text in (NUMBER, f"{NUMBER} 10", f"{NUMBER} 12"))

    assert words_at(page, 'id="counter-operator"') == "Telkomsel"
    assert tiles(page)[:3] == ["5.000", "10.000", "15.000"]
    assert len(tiles(page)) == 8
    assert "Rp12.000" in words(page)
    # an amount picks its tile, and the tiles stay
    assert tiles(picked) == tiles(page)
    assert (tiles(page, picked=True), tiles(picked, picked=True)) == ([], ["10.000"])
    # an amount that nobody sells picks nothing
    assert has_id(lacking, "counter-lacking")
    assert tiles(lacking, picked=True) == []
    assert not has_id(review(cashier, f"{NUMBER} 12"), "counter-review")


def test_what_the_number_bought_last_comes_first(cashier, telkomsel):
    make_order(Status.SUCCESS, product=telkomsel[50_000], destination=NUMBER)
    make_order(Status.FAILED, product=telkomsel[5_000], destination=NUMBER)

    page = offers(cashier, NUMBER)

    assert tiles(page)[0] == "50.000"
    assert tiles(page, picked=True) == ["50.000"]
    assert "last time" in words(page)


def test_a_tile_says_how_its_product_fares_and_what_is_off_cannot_be_chosen(cashier, telkomsel):
    soon = timezone.now() + dt.timedelta(minutes=5)
    ProductHealth.objects.create(
        product=telkomsel[5_000], ended=10, failed=0, slow_until=soon, counted_at=timezone.now()
    )
    telkomsel[10_000].availability = "inactive"
    telkomsel[10_000].save()

    page = offers(cashier, f"{NUMBER} 10")

    assert 'data-health="slow"' in page.content.decode()
    assert tiles(page, picked=True) == []
    assert re.search(r'aria-disabled="true"\s+data-product="T10000"', page.content.decode())
    assert not has_id(review(cashier, f"{NUMBER} 10", pick="T10000"), "counter-review")


def test_below_cost_only_who_may_sell_it_can_pick_its_tile(cashier, telkomsel):
    shown = review(cashier, f"{NUMBER} 10")
    telkomsel[10_000].price = 12_500
    telkomsel[10_000].save()
    is_off = re.compile(r'aria-disabled="true"\s+data-product="T10000"')

    page = review(cashier, f"{NUMBER} 10")
    assert is_off.search(page.content.decode())
    assert has_id(page, "counter-off")
    page = send(cashier, shown)  # the review that was open before
    assert codes(page) == {"PriceMoved"}
    assert "note-warn" not in page.content.decode()
    assert words_at(page, 'data-code="PriceMoved"') == words_at(page, 'id="no-sale-below-cost"') != ""
    page = review(browser_of("supervisor"), f"{NUMBER} 10")
    assert not is_off.search(page.content.decode())
    assert has_id(page, "below-cost")


def test_a_saved_name_offers_its_numbers(cashier, telkomsel):
    sari = Customer.objects.create(name="Bu Sari")
    SavedNumber.objects.create(customer=sari, destination=NUMBER, kind="phone")

    page = offers(cashier, "sari")

    assert tiles(page) == ["Bu Sari"]
    make_product(code="D1", name="Telkomsel 1 GB / 1 Hari")  # one letter from the name
    assert tiles(offers(cashier, "sari")) == ["Bu Sari"]
    assert tiles(offers(cashier, "hari")) == ["Telkomsel 1 GB / 1 Hari"]
    assert f'data-fills="{NUMBER} "' in page.content.decode()
    assert "Bu Sari" in words_at(offers(cashier, NUMBER), 'id="counter-known"')


def test_a_name_with_one_number_is_that_number_and_takes_an_amount(cashier, telkomsel):
    sari = Customer.objects.create(name="Bu Sari")
    SavedNumber.objects.create(customer=sari, destination=NUMBER, kind="phone")
    biller = make_biller()
    SavedNumber.objects.create(customer=sari, destination="12345678901", kind="meter", product=biller)

    assert "Pick the number" in words_at(review(cashier, "sari"), 'id="counter-pick"')
    assert f'data-fills="{NUMBER} 10"' in offers(cashier, "sari 10").content.decode()
    assert f'data-fills="{NUMBER} 10rb"' in offers(cashier, "bu sari10rb").content.decode()
    assert f'data-fills="{NUMBER} d3"' in offers(cashier, "sari d3").content.decode()
    assert has_id(offers(cashier, "telkomsel 12"), "counter-lacking")  # words of a product are not a name
    shown = review(cashier, "sari 10")
    assert (has_id(shown, "counter-review"), f'value="{NUMBER} 10"' in shown.content.decode()) == (True, True)
    send(cashier, shown)
    order = Order.objects.get()
    assert (order.destination, order.product) == (NUMBER, telkomsel[10_000])

    SavedNumber.objects.filter(product=biller).delete()
    make_order(Status.SUCCESS, product=telkomsel[50_000], destination=NUMBER)
    filled = review(cashier, "sari")
    assert not has_id(filled, "counter-review")  # the next typed number is the amount, not cash
    assert f'value="{NUMBER} "' in filled.content.decode()
    assert tiles(filled, picked=True) == ["50.000"]
    SavedNumber.objects.create(customer=Customer.objects.create(name="Sarinah"), destination="081", kind="phone")
    assert not has_id(review(cashier, "sari 10"), "counter-review")
    assert tiles(offers(cashier, "sari 10")) == ["Bu Sari", "Sarinah"]


def test_the_idle_field_offers_the_own_numbers_of_today(cashier, telkomsel):
    me = User.objects.get(username="cashier")
    for owner, number in (
        (me, NUMBER),
        (me, "081200000002"),
        (me, NUMBER),
        (make_person("supervisor"), "081200000003"),
    ):
        make_order(Status.SUCCESS, product=telkomsel[10_000], destination=number, placed_by=owner)

    page = cashier.get("/counter/")

    assert (tiles(page), tiles(page, picked=True)) == (["0812 3456 7890", "0812 0000 0002"], [])
    assert f'data-fills="{NUMBER} "' in page.content.decode()
    assert page.content.decode().count(' is-number"') == 2, "a phone keeps each on one line"
    assert not has_id(browser_of("supervisor", username="third").get("/counter/"), "counter-numbers")


def test_eleven_digits_offer_token_and_bill_and_the_word_for_a_bill_no_token(cashier):
    make_product(code="PLN50", name="Token PLN 50.000", category="token-pln", brand="pln", price=50_500)
    make_biller(code="PLNPASCA", name="PLN Pascabayar", category="pln-pascabayar", brand="plnpasca")

    assert tiles(offers(cashier, "12345678901")) == ["50.000"]
    for text in ("12345678901 b", "12345678901b"):
        assert tiles(offers(cashier, text), picked=True) == ["PLN Pascabayar"], text
    for text in ("tagihan pln", "12345678901 tagihan", "tagihan pln 12345678901"):
        assert tiles(offers(cashier, text)) == ["PLN Pascabayar"], text


def test_a_brand_has_its_mark_beside_the_number_in_the_review_and_the_strip(cashier, telkomsel):
    mark = str(mark_of("Telkomsel"))
    assert ("#c8102e" in mark, mark_of("Nobody <b>").count("<b")) == (True, 0)
    shown = review(cashier, f"{NUMBER} 10")

    assert shown.content.decode().count(mark) == 2  # the number's operator, and the product
    assert mark in send(cashier, shown).content.decode()


def test_the_empty_field_offers_what_people_buy_and_an_unknown_name_a_new_customer(cashier, telkomsel):
    page = cashier.get("/counter/").content.decode()
    (text,) = re.findall(r'class="sell-begin" href="[^"]+" data-fills="(pulsa) "', page)
    assert len(tiles(offers(cashier, text))) == 8
    assert page.count("sell-begin") == 5

    unknown = offers(cashier, "Bu Wati").content.decode()
    assert re.search(r'href="(/customers/add/\?name=Bu%20Wati)"', unknown)
    assert 'value="Bu Wati"' in cashier.get("/customers/add/?name=Bu%20Wati").content.decode()


def test_words_before_a_meter_or_a_game_account_lead_to_its_review(cashier):
    make_product(code="PLN50", name="Token PLN 50.000", category="token-pln", brand="pln", price=50_500)
    Brand.objects.create(category=Category.objects.create(code="game", name="Game"), code="mlbb", name="Mobile Legends")
    make_product(code="ML86", name="Mobile Legends 86 Diamonds", category="game", brand="mlbb", price=22_000)

    assert words_at(review(cashier, "token 50 12345678901"), 'id="review-number"') == "1234 5678 901"
    assert words_at(review(cashier, "mlbb 86 12345678 2001"), 'id="review-number"') == "12345678 (2001)"

    shown = review(cashier, "12345678 (2001) mlbb 86")
    assert words_at(shown, 'id="review-number"') == "12345678 (2001)"
    send(cashier, shown)
    assert Order.objects.get().destination == "12345678.2001"
    larger = offers(cashier, "12345678 2001 mlbb 85")
    assert (words_at(larger, 'class="sell-number"'), tiles(larger, picked=True)) == ("12345678 (2001)", [])
    assert "12345678 (2001) mlbb 86" in words_at(offers(cashier, "12345678 2001 mlbb"), 'id="counter-nothing"')


def test_given_nothing_matches_then_the_search_of_everything_comes_first(admin):
    for text, adds in (("last week 50000 02", False), ("Ibu Zubaedah", True)):
        page = offers(admin, text).content.decode()

        first = page.index('id="counter-find"')
        assert f'href="/find/?q={quote(text)}"' in page
        assert ('id="counter-add-customer"' in page) is adds
        assert not adds or first < page.index('id="counter-add-customer"')


def test_a_name_that_is_no_product_leads_to_the_customer(cashier):
    make_product(name="Telkomsel 10.000")
    alone, saved = Customer.objects.create(name="Bu Zubaedah"), Customer.objects.create(name="Pak Karyono")
    SavedNumber.objects.create(customer=saved, destination=NUMBER, kind="phone")

    for text, customer in (("bu zubaedah", alone), ("zubae", alone), ("karyono", saved)):
        page = offers(cashier, text)
        assert f'href="{customer.get_absolute_url()}"' in page.content.decode(), text
        assert words_at(page, 'id="counter-customer"'), text
        assert not has_id(page, "counter-nothing"), text
    for text in ("telkomsel", "entahlah"):
        assert not has_id(offers(cashier, text), "counter-customer"), text


def test_enter_after_a_pasted_number_alone_ends_it(cashier, telkomsel):
    for pasted in ("(0812) 3456-7890", "\u202a+62 812\u20113456\u20117890\u202c", "0812  3456  7890"):
        shown = review(cashier, pasted)

        assert has_id(shown, "counter-pick"), pasted
        assert f'value="{NUMBER} "' in shown.content.decode(), pasted  # digits that follow are the amount
        sold = review(cashier, f"{pasted} 10")
        assert (has_id(sold, "counter-review"), "U+202A" in sold.content.decode()) == (True, False), pasted


def test_a_denomination_that_two_products_have_picks_none(cashier):
    Category.objects.create(code="paket-data", name="Paket Data", type="prepaid")
    for days in (7, 30):
        make_product(code=f"D3-{days}", name=f"Telkomsel 3 GB / {days} Hari", category="paket-data", price=days * 2_000)

    assert (tiles(offers(cashier, f"{NUMBER} d3"), picked=True), len(tiles(offers(cashier, f"{NUMBER} d3")))) == ([], 2)
    assert has_id(review(cashier, f"{NUMBER} d3"), "counter-pick")
    named = words_at(offers(cashier, f"{NUMBER} d3"), 'id="counter-pick"')
    assert "Telkomsel 3 GB / 7 Hari, Telkomsel 3 GB / 30 Hari" in named
    assert tiles(offers(cashier, f"{NUMBER} d3 30"), picked=True) == ["3 GB / 30 Hari"]


def test_each_kind_of_product_types_a_word_that_finds_it(cashier, games):
    Category.objects.filter(code="token-pln").update(name="Token PLN")
    Category.objects.create(code="paket-data", name="Paket Data", type="prepaid")
    make_product(code="T10", name="Telkomsel 10.000")
    make_product(code="D3", name="Telkomsel 3 GB", category="paket-data", price=20_000)
    make_biller(code="PLNPASCA", name="PLN Pascabayar", category="pln-pascabayar", brand="plnpasca")
    billy = Customer.objects.create(name="Billy")
    SavedNumber.objects.create(customer=billy, destination=NUMBER, kind="phone")

    for language, bills in (("en", "bills "), ("id", "tagihan ")):
        page = cashier.get("/counter/", headers={"Accept-Language": language}).content.decode()
        words_typed = re.findall(r'class="sell-begin"[^>]*data-fills="([^"]+)"', page)

        assert words_typed == ["pulsa ", "data ", "token ", "game ", bills]
        assert [tiles(offers(cashier, text)) for text in words_typed] == [
            ["Telkomsel 10.000"],
            ["Telkomsel 3 GB"],
            ["Token PLN 50.000"],
            ["Free Fire 50 Diamonds", "Free Fire 1.000 Diamonds"],
            ["PLN Pascabayar"],
        ]


@pytest.fixture
def games():
    make_product(code="PLN50", name="Token PLN 50.000", category="token-pln", brand="pln", price=50_500)
    Brand.objects.create(category=Category.objects.create(code="game", name="Game"), code="ff", name="Free Fire")
    make_product(code="FF50", name="Free Fire 50 Diamonds", category="game", brand="ff", price=6_000)
    make_product(code="FF1000", name="Free Fire 1.000 Diamonds", category="game", brand="ff", price=120_000)


def test_an_amount_behind_an_account_picks_nothing_and_says_so(cashier, games):
    for account, amount, offered in (
        ("12345678", "50", ["Free Fire 50 Diamonds"]),
        ("1401234567", "1000", ["Free Fire 1.000 Diamonds"]),
    ):
        page = offers(cashier, f"{account} {amount}")
        assert (tiles(page)[:1], tiles(page, picked=True)) == (offered, [])
        assert f"“{amount}”" in words_at(page, 'id="counter-nameless"')
        assert not has_id(review(cashier, f"{account} {amount}"), "counter-review")
        assert tiles(offers(cashier, f"{account} ff {amount}"), picked=True) == offered

    # what may be a game's zone is said to be read as an amount
    assert "12345678 (1000) mlbb 86" in words_at(offers(cashier, "12345678 1000"), 'id="counter-nameless"')
    assert "mlbb" not in words_at(offers(cashier, "12345678 50"), 'id="counter-nameless"')


def test_an_amount_that_no_token_has_leads_to_the_game_that_has_it(cashier, games):
    page = offers(cashier, "14012345678 1000")

    assert words_at(page, 'id="counter-read-as"') == "PLN meter"
    assert has_id(page, "counter-lacking")
    assert (tiles(page), tiles(page, picked=True)) == (["50.000"], [])
    assert 'id="counter-elsewhere" data-fills="14012345678 a 1000"' in page.content.decode()
    exact = offers(cashier, "14012345678 a 1000")
    assert (tiles(exact)[0], tiles(exact, picked=True)) == ("Free Fire 1.000 Diamonds", [])
    assert tiles(offers(cashier, "14012345678 50"), picked=True) == ["50.000"]

    # all brands offers only what takes the number
    make_product(code="DANA50", name="DANA 50.000", category="e-money", brand="dana", price=50_500)
    assert tiles(offers(cashier, "12345678 a")) == ["Free Fire 50 Diamonds", "Free Fire 1.000 Diamonds"]
    assert {"Free Fire 50 Diamonds", "DANA 50.000"} <= {*tiles(offers(cashier, "1234567890123456 a 50"))}


def test_several_numbers_at_once_lead_to_a_table(cashier, telkomsel):
    page = cashier.get("/counter/?q=081234567890+081234567891")

    assert has_id(page, "counter-several")
    assert has_id(page, "to-batches")
    assert not has_id(cashier.get("/counter/?q=081234567890+10"), "counter-several")


def test_more_tiles_follow_to_the_last_page(cashier, monkeypatch):
    labels = {f"Paket {n}" for n in range(75)}
    for label in labels:
        make_product(name=f"Telkomsel {label}")

    pages = [offers(cashier, "telkomsel")]
    while address := pages[-1].context["page_on"]:
        pages.append(cashier.get(address, headers={"HX-Request": "true"}))

    shown = [tile.product.name for page in pages for tile in page.context["tiles"]]
    assert sorted(shown) == sorted(f"Telkomsel {label}" for label in labels)
    monkeypatch.setattr("counter.views.counter._MOST_PAGES", 1)
    last = cashier.get("/counter/?q=telkomsel&page=1", headers={"HX-Request": "true"})
    assert last.context["page_on"] == ""
