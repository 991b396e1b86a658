"""The price list for customers: selling prices of the counter's products, and never a cost, on any way out."""

import html
import re
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from django.test import Client

from audit.models import AuditEvent
from catalogue.models import Availability, Brand, Product, PublicPriceList
from catalogue.services.price_list import publish_prices, read_price_sections
from core.rights import Right
from staff.models import User
from testing.factories import make_biller, make_product
from testing.people import browser_of, make_person
from tests.core.helpers import codes, has_id, words

pytestmark = pytest.mark.django_db

COST, PRICE = 10_203, 12_000
MARGIN = PRICE - COST


def amounts_in(text: str) -> set[int]:
    return {int(found.replace(".", "")) for found in re.findall(r"Rp([\d.]*\d)", html.unescape(text))}


def says_cost(text: str) -> bool:
    plain = re.sub(r"(?<=\d)[.,](?=\d{3})", "", unquote(html.unescape(text)))
    return any(re.search(rf"(?<!\d){secret}(?!\d)", plain) for secret in (COST, MARGIN))


def listed(page) -> list[str]:
    """The names of the list, in order."""
    return [html.unescape(name) for name in re.findall(r"<div data-price><dt>(.*?)</dt>", page.content.decode())]


def link_of(page) -> str:
    return html.unescape(re.search(r'id="public-link">(.*?)</p>', page.content.decode())[1])


def publish(browser, **typed):
    """Send the form as the page shows it."""
    shown = browser.get("/products/price-list/link/").content.decode()
    return browser.post(
        "/products/price-list/link/", {"seen": re.search(r'name="seen" value="(.*?)"', shown)[1], **typed}
    )


def visit(link: str, **headers: str):
    parts = urlsplit(link)
    return Client().get(f"{parts.path}?{parts.query}", headers=headers)


@pytest.fixture
def telkomsel():
    return make_product(code="T10", name="Telkomsel 10.000", brand="telkomsel", price=COST, selling_price=PRICE)


def axis_of_5_000() -> Product:
    product = make_product(code="A5", name="AXIS 5.000", brand="axis", price=5_200, selling_price=6_500)
    Brand.objects.filter(pk=product.brand_id).update(name="AXIS")
    product.brand.refresh_from_db()
    return product


def test_it_lists_in_the_counters_order_what_the_counter_sells_by_a_rule(telkomsel):
    # given products of two brands, and products that are gone, closed, below cost or without a rule, and a bill
    five = make_product(code="T5", name="Telkomsel 5.000", brand="telkomsel", price=5_100, selling_price=6_000)
    axis = axis_of_5_000()
    make_product(code="X1", name="Gone", brand="telkomsel", selling_price=20_000, is_listed=False)
    make_product(code="X2", name="Off", brand="telkomsel", selling_price=20_000, availability=Availability.INACTIVE)
    make_product(code="X3", name="Below", brand="telkomsel", price=9_000, selling_price=8_000)
    make_product(code="X4", name="At cost", brand="telkomsel", price=9_000)
    make_biller(code="X5")

    sections = read_price_sections()

    assert [(section.name, [price.name for price in section.prices]) for section in sections] == [
        (telkomsel.brand.name, [five.name, telkomsel.name]),
        (axis.brand.name, [axis.name]),
    ]
    page = browser_of("cashier").get(f"/products/price-list/?brand={axis.brand_id}")
    assert listed(page) == [axis.name]
    assert listed(browser_of("viewer").get("/products/price-list/?all=1")) == [five.name, telkomsel.name, axis.name]


@pytest.mark.parametrize("language", ["id", "en"])
def test_no_page_no_text_and_no_link_says_a_cost_or_a_margin(telkomsel, language):
    # given a reader who sees costs elsewhere, and a public page
    browser = browser_of("admin", language=language)

    page = browser.get("/products/price-list/").content.decode()
    made = publish(browser, all="1")
    public = visit(link_of(made), **{"Accept-Language": language}).content.decode()

    # then the page, its texts and their addresses, and the public page have the price alone
    texts = re.findall(r"<textarea.*?>(.*?)</textarea>", page, re.DOTALL)
    addresses = [
        parse_qs(urlsplit(html.unescape(link)).query)["text"][0]
        for link in re.findall(r'"(https://wa.me/[^"]+)"', page)
    ]
    assert len(texts) == len(addresses) == 1
    assert texts[0].startswith(f"*{telkomsel.brand.name}*")
    assert not says_cost(made.content.decode())
    for text in (page, public, *texts, *addresses):
        assert PRICE in amounts_in(text)
        assert not says_cost(text)


def test_an_owner_makes_replaces_and_ends_the_public_page(telkomsel):
    # given a link to one brand
    axis = axis_of_5_000()
    browser = browser_of("admin")
    first = link_of(publish(browser, brand=axis.brand_id))
    assert listed(visit(first)) == [axis.name]
    token = parse_qs(urlsplit(first).query)["link"][0]
    assert len(token) >= 43, "256 bits"
    assert token not in PublicPriceList.objects.get().digest
    assert "public-link" not in browser.get("/products/price-list/link/").content.decode(), "shown once"

    # when it is replaced, and when it is switched off
    second = link_of(publish(browser, all="1", ends_old="1"))
    assert visit(first).status_code == 404
    assert sorted(listed(visit(second))) == [axis.name, telkomsel.name]
    browser.post("/products/price-list/link/", {"off": "1"})

    # then no link leads anywhere, and each step is an event without the link
    assert visit(second).status_code == 404
    assert has_id(browser.get("/products/price-list/link/"), "public-off")
    events = AuditEvent.objects.filter(kind="public_prices_changed").order_by("pk")
    assert [(event.before["is_public"], event.after["is_public"]) for event in events] == [
        (False, True),
        (True, True),
        (True, False),
    ]
    assert not any(token in str((event.before, event.after, event.facts)) for event in events)
    log = words(browser_of("auditor").get("/audit/?kind=public_prices_changed"))
    assert ("Brands: 1" in log, "Brands: all" in log, "Brands: 0" in log) == (True, True, False)


def test_the_same_form_sent_twice_makes_one_link(telkomsel):
    browser = browser_of("admin")
    typed = {"all": "1", "seen": ""}
    link = link_of(browser.post("/products/price-list/link/", typed))

    again = browser.post("/products/price-list/link/", typed, follow=True)

    assert "PublicListRefused:changed" in codes(again)
    assert listed(visit(link)) == [telkomsel.name]
    assert AuditEvent.objects.filter(kind="public_prices_changed").count() == 1


def test_a_new_link_asks_before_it_ends_the_old_one(telkomsel):
    browser = browser_of("admin")
    link = link_of(publish(browser, all="1"))

    refused = browser.get(publish(browser, all="1").url)

    assert "PublicListRefused:not_agreed" in codes(refused)
    assert visit(link).status_code == 200


def test_the_public_page_is_kept_from_search_engines_and_other_sites(telkomsel):
    link = publish_prices([], actor=make_person("admin"))

    answer = Client().get(f"/prices/?link={link}")

    assert answer.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert "no-store" in answer.headers["Cache-Control"]
    assert '<meta name="robots" content="noindex, nofollow">' in answer.content.decode()
    assert answer.content.decode().count("href=") == 4, "icon and style sheets: it leads nowhere"


def test_wrong_links_are_slowed_and_the_right_one_is_not(telkomsel):
    link = publish_prices([], actor=make_person("admin"))
    stranger = Client()

    statuses = [stranger.get("/prices/?link=wrong").status_code for _try in range(12)]

    assert statuses[:10] == [404] * 10
    assert statuses[11] == 429
    assert has_id(stranger.get("/prices/"), "wait")
    assert stranger.get(f"/prices/?link={link}").status_code == 200
    assert Client().get("/prices/?link=", REMOTE_ADDR="10.9.8.7").status_code == 404


def test_only_people_with_the_right_publish(telkomsel):
    supervisor = browser_of("supervisor")
    assert not User.objects.get(username="supervisor").has_perm(Right.PUBLISH_PRICES)

    assert supervisor.post("/products/price-list/link/", {"all": "1"}).status_code == 403
    assert "to-public" not in supervisor.get("/products/price-list/").content.decode()
    none_ticked = browser_of("admin").post("/products/price-list/link/", {"brand": "x"}, follow=True)
    assert "no_brand" in codes(none_ticked)
    assert not PublicPriceList.objects.exists()


def test_a_shop_without_rules_has_an_empty_list_that_says_why():
    make_product(code="T10", price=COST)

    page = browser_of("cashier").get("/products/price-list/")

    assert has_id(page, "no-prices")
    assert not says_cost(page.content.decode())
