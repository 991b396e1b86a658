"""The first tiles of a till: chosen on its page, and first at its counter while they can be sold."""

import re

import pytest
from django.db import IntegrityError, transaction
from django.test import Client

from audit.models import AuditEvent
from catalogue.models import Availability
from counter.errors import TooManyTiles
from counter.models import FirstTile
from counter.services.first_tiles import read_first_tiles, set_first_tiles
from purchases.states import Status
from staff.models import User
from testing.factories import make_biller, make_order, make_product
from testing.people import browser_of, make_person, signed_in
from tests.core.helpers import codes, has_id
from tests.counter.helpers import AMOUNTS, NUMBER, offers, shelf_of_telkomsel, tiles
from tests.tills.helpers import boss, make_till, manager, take_over, till_browser, with_pin
from tills.models import Till

pytestmark = pytest.mark.django_db


def a_till(products) -> tuple[Client, Till]:
    """A till's browser with a cashier by PIN, and its till with these first tiles."""
    browser = till_browser()
    till = Till.objects.get()
    set_first_tiles(till, products, actor=manager())
    take_over(browser, with_pin(username="sari"))
    return browser, till


def save(browser, till, **form):
    return browser.post(f"/tills/{till.pk}/tiles/", form, follow=True)


def chosen(till) -> list[str]:
    return [product.code for product in read_first_tiles(till)]


def left_out(page) -> list[str]:
    return re.findall(r'data-left-out="(\w+)"', page.content.decode())


def test_at_the_till_they_stand_first_in_the_empty_field_and_among_a_numbers_tiles(cashier):
    # given a till whose first tiles are a game, and credit of 75.000 before 25.000
    made = shelf_of_telkomsel()
    game = make_product(code="MLBB86", name="Mobile Legends 86", category="games", brand="mlbb", kind="account")
    browser, till = a_till([game, made[75_000], made[25_000]])

    # when the field is empty, and when a number is typed
    idle, typed = browser.get("/counter/"), offers(browser, NUMBER)

    # then each keeps its product, and a number shows first the tiles that fit it; the others stay
    assert tiles(idle) == ["Mobile Legends 86", "Telkomsel 75.000", "Telkomsel 25.000"]
    assert "/counter/?product=MLBB86" in idle.content.decode()
    assert tiles(typed)[:2] == ["75.000", "25.000"]
    assert len(tiles(typed)) == 8
    assert tiles(typed, picked=True) == []

    # and elsewhere nothing stands first
    of_another = till_browser("Kasir 2")
    take_over(of_another, with_pin(username="budi"))
    for other in (cashier, of_another):
        assert tiles(other.get("/counter/")) == []
        assert tiles(offers(other, NUMBER))[0] == "5.000"
    till.switched_off_at, till.held_by = till.enrolled_at, None
    till.save()
    assert till_browser("Kasir 3").get("/counter/").status_code == 302


def test_the_numbers_last_product_stays_before_them_and_the_numbers_of_today_beside():
    made = shelf_of_telkomsel()
    browser, _till = a_till([made[75_000]])
    cashier = User.objects.get(pin__isnull=False)
    make_order(Status.SUCCESS, product=made[5_000], destination=NUMBER, placed_by=cashier)

    page, idle = offers(browser, NUMBER), browser.get("/counter/")

    assert tiles(page)[:2] == ["5.000", "75.000"]
    assert tiles(page, picked=True) == ["5.000"], "what Enter takes"
    assert tiles(offers(browser, f"{NUMBER} 10"), picked=True) == ["10.000"], "an amount picks as everywhere"
    assert tiles(idle) == ["Telkomsel 75.000", "0812 3456 7890"]
    assert 'id="tile-2"' in idle.content.decode()


def test_what_is_gone_or_closed_is_left_out_and_said_on_the_tills_page():
    # given one product of each kind that cannot be sold now, between two that can
    made = shelf_of_telkomsel()
    browser, till = a_till([made[amount] for amount in AMOUNTS[:6]])
    for amount, changed in {
        1_000: {"is_listed": False},
        5_000: {"availability": Availability.INACTIVE},
        10_000: {"cut_off_start": "00:00", "cut_off_end": "23:59:59"},
        15_000: {"selling_price": 1},
    }.items():
        type(made[amount]).objects.filter(pk=made[amount].pk).update(**changed)

    # when cashier and manager open their pages
    idle, typed = browser.get("/counter/"), offers(browser, NUMBER)
    pages = [boss().get(address) for address in (f"/tills/{till.pk}/", f"/tills/{till.pk}/tiles/")]

    # then the counter has only the others, and the till's pages say why
    assert tiles(idle) == ["Telkomsel 20.000", "Telkomsel 25.000"]
    assert tiles(typed)[:2] == ["20.000", "25.000"]
    assert [left_out(page) for page in pages] == [["gone", "off", "closed", "price"]] * 2


def test_they_are_found_added_put_in_order_and_taken_away_on_the_tills_page_without_a_script():
    made = shelf_of_telkomsel()
    biller = make_biller(code="PLNPOST")
    till, browser = make_till(), boss()
    page = f"/tills/{till.pk}/tiles/"
    assert has_id(browser.get(page), "no-tiles")

    found = browser.get(f"{page}?q=telkomsel+10").content.decode()
    assert f'name="add" value="{made[10_000].code}"' in found
    for code in ("T10000", "T5000", "PLNPOST"):
        assert "tiles_saved" in codes(save(browser, till, tile=chosen(till), add=code))
    assert chosen(till) == ["T10000", "T5000", biller.code]

    save(browser, till, tile=chosen(till), up="PLNPOST")
    assert chosen(till) == ["T10000", "PLNPOST", "T5000"]
    save(browser, till, tile=["T5000", "T10000"])
    assert chosen(till) == ["T5000", "T10000"]
    assert "tiles_unchanged" in codes(save(browser, till, tile=["T5000", "T10000", "T5000", "NONE"], up="T5000"))
    events = AuditEvent.objects.filter(kind="first_tiles_changed").order_by("pk")
    assert len(events) == 5
    assert (events[4].before, events[4].after) == (
        {"first_tiles": ["Telkomsel 10.000", biller.name, "Telkomsel 5.000"]},
        {"first_tiles": ["Telkomsel 5.000", "Telkomsel 10.000"]},
    )


def test_given_the_same_till_in_another_browser_then_they_stand_there_too():
    made = shelf_of_telkomsel()
    _lost, before = a_till([made[75_000], made[25_000]])

    browser = till_browser(before.name)
    take_over(browser, User.objects.get(username="sari"))

    assert tiles(browser.get("/counter/")) == ["Telkomsel 75.000", "Telkomsel 25.000"]


def test_there_are_eight_at_most_by_page_and_by_sql():
    made = shelf_of_telkomsel()
    till, browser = make_till(), boss()
    eight = [made[amount].code for amount in AMOUNTS[:8]]
    save(browser, till, tile=eight)

    refused = save(browser, till, tile=eight, add=made[100_000].code)

    assert TooManyTiles.__name__ in codes(refused)
    assert chosen(till) == eight
    assert has_id(browser.get(f"/tills/{till.pk}/tiles/"), "tiles-full")
    for place in (8, 9):
        with pytest.raises(IntegrityError), transaction.atomic():
            FirstTile.objects.create(till=till, product=made[100_000], place=place)


def test_only_people_who_manage_tills_choose_and_a_till_that_is_off_has_none():
    made = shelf_of_telkomsel()
    till = make_till()

    assert browser_of("cashier").post(f"/tills/{till.pk}/tiles/", {"tile": made[5_000].code}).status_code == 403
    till.switched_off_at = till.enrolled_at
    till.save()
    assert "TillIsOff" in codes(save(signed_in(make_person("supervisor")), till, tile=made[5_000].code))
    assert chosen(till) == []
