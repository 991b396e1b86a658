"""A line typed into the search of orders becomes filters; an empty list names the filter that leaves nothing."""

import datetime as dt
import html
import re

import pytest
from django.utils import timezone

from catalogue.models import Brand
from customers.models import Customer, SavedNumber
from drawers.models import Drawer
from purchases import looking
from purchases.models import Order
from purchases.states import Status
from staff.models import User
from testing.factories import make_order, make_product
from testing.people import browser_of, make_person
from tests.core.helpers import has_id, words_at
from tests.purchases.helpers import listed

pytestmark = pytest.mark.django_db


def test_a_line_in_the_search_becomes_chips_and_a_word_that_is_not_understood_is_searched_for(supervisor):
    make_person("cashier", username="kasir1", first_name="Kasir", last_name="1")
    sold = make_order(
        Status.SUCCESS,
        selling_price=52_000,
        destination="081234567802",
        placed_by=User.objects.get(username="kasir1"),
        created_at=timezone.now() - dt.timedelta(days=7),
    )
    today, _other = make_order(Status.SUCCESS, destination="081234567803"), make_order(Status.SUCCESS)

    answer = supervisor.get("/orders/?status=success&q=50 ribu kasir 1 minggu lalu 02", follow=True)
    chips = {chip.name for chip in answer.context["filter"].chips()}
    assert chips == {"status", "cashier", "amount_from", "ends"}
    assert listed(answer) == [sold.ref_id]

    answer = supervisor.get("/orders/?q=today 081234567803", follow=True)
    assert answer.request["QUERY_STRING"] == "days=today&q=081234567803"
    assert listed(answer) == [today.ref_id]

    # a second line takes the place of days and amounts
    before = "/orders/?amount_from=45000&amount_to=55000&days=last-week&status=success"
    answer = supervisor.get(f"{before}&q=di atas 100 ribu hari ini")
    assert answer["Location"] == "/orders/?status=success&amount_from=100000&days=today&line=amount_from%2Cdays"


def test_a_drawer_and_a_products_name_or_its_beginning_become_chips(supervisor):
    drawer = Drawer.objects.create(name="Laci 1")
    make_product(name="Free Fire 140 Diamonds", code="FF140", brand="free-fire")
    make_product(name="Free Fire 70 Diamonds", code="FF70", brand="free-fire")
    Brand.objects.filter(code="free-fire").update(name="FREE FIRE")
    gopay = make_product(name="GoPay 20.000", code="GP20", brand="GoPay")
    sold = make_order(Status.SUCCESS, product=gopay, selling_price=23_000)
    make_order(Status.SUCCESS, product=make_product(name="GoPay 25.000", code="GP25", brand="GoPay"))

    def understood(line):
        return supervisor.get("/orders/", {"q": line}).get("Location", "")

    assert understood("laci 1 today") == f"/orders/?drawer={drawer.pk}&days=today"
    assert understood("Free Fire 140") == "/orders/?product=FF140"
    assert understood("free fire kemarin") == "/orders/?brand=FREE+FIRE&days=yesterday"
    page = supervisor.get("/orders/?q=gopay+20.000+hari+ini", follow=True)  # its name is no price
    assert [row.pk for row in page.context["table"].rows] == [sold.pk]
    assert [chip.words for chip in page.context["filter"].chips()] == ["Product: GoPay 20.000"]


def test_given_nothing_by_a_line_then_older_filters_or_words_are_named_and_left_with_one_press(supervisor):
    failed = make_order(Status.FAILED, destination="081234567802")

    page = supervisor.get("/orders/?amount_from=1&amount_to=2&q=gagal hari ini", follow=True)
    assert listed(page) == []
    assert words_at(page, 'id="standing"').split(": ", 1)[1] == "Price: Rp1 to Rp2."
    whole = page.context["filter"].url_of_line()
    assert whole == "?status=failed&days=today"
    assert f'href="/orders/{html.escape(whole)}"' in page.content.decode()
    assert listed(supervisor.get(f"/orders/{whole}")) == [failed.ref_id]
    searched = supervisor.get("/orders/?status=success&days=today&q=081234567802")
    assert searched.context["filter"].url_of_line() == "?q=081234567802"
    assert "Status: " in words_at(searched, 'id="standing"')
    assert not has_id(searched, "without-words")
    assert has_id(supervisor.get("/orders/?status=success&days=today"), "none-matches")

    page = supervisor.get("/orders/?q=gagal hari ini entahlah", follow=True)
    assert listed(page) == []
    address = re.search(r'id="without-words" href="([^"]+)"', page.content.decode())
    assert "“entahlah”" in words_at(page, 'id="without-words"')
    assert not has_id(page, "without-them")
    assert listed(supervisor.get(html.unescape(address[1]))) == [failed.ref_id]


def test_the_apps_own_words_are_known_in_both_languages_on_a_page_of_either(supervisor):
    make_product(category="pulsa", brand="telkomsel", name="Telkomsel 5.000")
    make_product(category="pulsa", brand="halo", code="halo")
    for code, name in (("telkomsel", "Telkomsel"), ("halo", "Telkomsel Halo")):
        Brand.objects.filter(code=code).update(name=name)
    filters = {
        "kartu": "payment=card",
        "EDC": "payment=card",
        "kartu edc": "payment=card",
        "Card (EDC), kemarin": "days=yesterday&payment=card",
        "tunai": "payment=cash",
        "utang": "payment=credit",
        "batal": "status=cancelled",
        "cancelled": "status=cancelled",
        "dicek": "status=needs_action",
        "in process": "status=pending",
        "rugi": "profit=loss",
        "loss": "profit=loss",
        "pulsa": "category=pulsa",
        "airtime": "category=pulsa",
        "tsel": "brand=Telkomsel",
    }

    for language in ("en", "id"):
        for line, filtered in filters.items():
            answer = supervisor.get("/orders/", {"q": line}, headers={"Accept-Language": language})
            understood = "&".join(sorted(answer.get("Location", "?").partition("?")[2].split("&")))
            assert understood == filtered, (language, line)


def test_a_customers_name_becomes_a_chip_for_people_who_may_see_customers(supervisor):
    customer = Customer.objects.create(name="Bu Lilis")
    SavedNumber.objects.create(customer=customer, destination="081234567802", kind="phone")
    wanted = make_order(Status.SUCCESS, destination="081234567802")
    make_order(Status.SUCCESS)

    answer = supervisor.get("/orders/?q=bu lilis, bulan ini", follow=True)
    assert answer.request["QUERY_STRING"] == f"customer={customer.pk}&days=month"
    assert listed(answer) == [wanted.ref_id]
    assert "Location" not in browser_of("auditor").get("/orders/?q=bu lilis")
    # it wins over the name of a cashier that is a part of it
    make_person("cashier", username="lilis", first_name="Lilis")
    assert supervisor.get("/orders/?q=BU LILIS")["Location"] == f"/orders/?customer={customer.pk}"
    assert supervisor.get("/orders/?q=lilis")["Location"] == "/orders/?cashier=lilis"

    # of several customers with one name the page names the words and leads to the customers
    Customer.objects.bulk_create([Customer(name="Bu Sari"), Customer(name="bu sari")])
    page = supervisor.get("/orders/?q=bu sari kemarin", follow=True)
    assert "“bu sari”" in words_at(page, 'id="words-not-found"')
    assert "deleted customer" in words_at(page, 'id="words-not-found"')
    assert 'href="/customers/?q=bu%20sari"' in page.content.decode()
    assert not has_id(supervisor.get("/orders/?days=yesterday"), "words-not-found")


def test_given_no_right_to_numbers_then_the_page_asks_for_a_full_number(supervisor):
    make_order(Status.SUCCESS, destination="081298220145")
    auditor = browser_of("auditor")

    page = auditor.get("/orders/?q=0145")

    assert has_id(page, "full-number-only")
    assert not has_id(auditor.get("/orders/?q=081298220145"), "words-not-found")
    assert not has_id(supervisor.get("/orders/?q=7777"), "full-number-only")


def test_plain_digits_beside_days_are_a_price_that_can_be_made_an_ending(supervisor):
    sold = make_order(Status.SUCCESS, selling_price=52_000)
    ended = make_order(Status.SUCCESS, selling_price=10_000, destination="081234552000")

    page = supervisor.get("/orders/?q=52000 today", follow=True)

    assert listed(page) == [sold.ref_id]
    assert [chip.words for chip in page.context["filter"].chips()] == ["Price: about Rp52.000"]
    address = re.search(r'id="read-instead" href="([^"]+)"', page.content.decode())
    assert listed(supervisor.get(f"/orders/{html.unescape(address[1])}")) == [ended.ref_id]
    assert not has_id(supervisor.get("/orders/?q=52rb today", follow=True), "read-instead")
    assert not has_id(browser_of("auditor").get("/orders/?q=52000 today", follow=True), "read-instead")


def test_an_empty_list_names_the_filter_that_leaves_nothing_and_counts_what_is_there_without_it(supervisor):
    for _ in range(2):
        make_order(Status.SUCCESS, selling_price=50_000, destination="081234567802")
    make_order(Status.FAILED, selling_price=90_000, destination="081234567803")
    for query, left, count in (
        ("q=50rb today 05", "?amount_from=45000&amount_to=55000&days=today", "2"),
        ("amount_from=70000&status=success&days=today", "?status=success&days=today", "2"),
        ("status=success&ends=03&days=today", "?status=success&days=today", "2"),
        ("status=failed&ends=03&days=yesterday", "?status=failed&ends=03", "1"),
    ):
        page = supervisor.get(f"/orders/?{query}", follow=True)

        assert listed(page) == [], query
        address = re.search(r'id="without-it" href="([^"]+)"', page.content.decode())
        assert sorted(html.unescape(address[1])[8:].strip("?").split("&")) == sorted(left[1:].split("&")), query
        assert count in words_at(page, 'id="without-it"'), query
        assert len(listed(supervisor.get(html.unescape(address[1])))) == int(count), query
    # no order of this product was rejected: no query is needed
    never = f"status=rejected&product={Order.objects.first().product_code}&ends=99"
    for query in (never, "ends=99", "days=yesterday", "status=queued&ends=99", "q=entahlah&status=success"):
        page = supervisor.get(f"/orders/?{query}")
        assert has_id(page, "none-matches"), query
        assert not has_id(page, "without-it"), query


def test_an_empty_list_of_yesterday_by_its_weekday_offers_the_week_before(supervisor):
    yesterday = timezone.localdate() - dt.timedelta(days=1)
    older = make_order(Status.SUCCESS, selling_price=50_000, created_at=timezone.now() - dt.timedelta(days=8))
    line = f"/orders/?q=50rb {yesterday:%A}"

    page = supervisor.get(line, follow=True)

    assert listed(page) == []
    address = html.unescape(re.search(r'id="week-before" href="([^"]+)"', page.content.decode())[1])
    assert listed(supervisor.get(address)) == [older.ref_id]
    assert "amount_from=45000" in address
    assert not has_id(supervisor.get(f"/orders/?q=90rb {yesterday:%A}", follow=True), "week-before")
    assert not has_id(supervisor.get("/orders/?q=50rb yesterday", follow=True), "week-before")


def test_given_more_orders_than_are_looked_through_then_no_count_is_said(supervisor, monkeypatch):
    for minutes in range(4):
        created_at = timezone.now() - dt.timedelta(minutes=minutes)
        make_order(Status.SUCCESS, selling_price=50_000, created_at=created_at)
    monkeypatch.setattr(looking, "MOST_LOOKED", 2)
    monkeypatch.setattr(looking, "expected", lambda _placed: 4)

    page = supervisor.get("/orders/?amount_from=50000&ends=99")

    assert has_id(page, "without-it")
    assert not any(letter.isdigit() for letter in words_at(page, 'id="without-it"'))


def test_the_days_that_nobody_chose_are_named_and_all_days_are_one_press_away(supervisor):
    long_ago = timezone.now() - dt.timedelta(days=40)
    old = make_order(Status.SUCCESS, selling_price=50_000, created_at=long_ago)

    page = supervisor.get("/orders/?amount_from=50000")

    address = re.search(r'id="days-limit".*?href="([^"]+)"', page.content.decode(), re.DOTALL)
    assert listed(page) == []
    assert listed(supervisor.get(f"/orders/{html.unescape(address[1])}")) == [old.ref_id]
    assert page.context["filter"].form["days"].value() is None
    assert [chip.name for chip in page.context["filter"].periods() if chip.is_chosen] == ["30"]
    assert "since=" in page.context["filter"].as_query()
    for query in ("amount_from=50000&days=30", "ends=02", "cashier=sari", ""):
        assert not has_id(supervisor.get(f"/orders/?{query}"), "days-limit"), query
