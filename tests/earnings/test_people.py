"""A person's page shows the same figures for everybody, so that unusual ones stand out."""

import html
import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db import transaction
from django.utils import timezone

from audit.services import record
from drawers.services import close_shift, follow_price, pay_in, pay_out
from earnings.periods import named_period
from earnings.services.people import people_beside
from purchases.events import FULL_NUMBER_SEEN
from purchases.models import ReceiptPrint
from purchases.states import Status
from staff.models import User
from testing.people import browser_of, make_person, signed_in
from tests.credit.helpers import give_credit, sell_to, take_off
from tests.drawers.helpers import begin, end, pieces_of
from tests.earnings.helpers import ago, sold, sum_past_days

pytestmark = pytest.mark.django_db(transaction=True)


def test_each_persons_work_is_counted_and_beside_the_others():
    sari, budi = make_person("cashier", username="sari"), make_person("cashier", username="budi")
    order = sold(ago(2), placed_by=sari)
    sold(ago(2), placed_by=budi, selling_price=50_000)
    sold(ago(2), Status.CANCELLED, placed_by=sari)
    for _ in range(2):
        sold(ago(1), Status.PENDING, placed_by=sari)
    sold(ago(40), placed_by=sari)
    for number in (1, 2, 3):
        ReceiptPrint.objects.create(order=order, number=number, paper="58", printed_by=sari)
    record(FULL_NUMBER_SEEN, actor=budi, subject=order.ref_id)
    sum_past_days()

    rows = {
        row.person.username: (row.figures.sales, row.figures.cancelled, row.reprints, row.numbers_seen)
        for row in people_beside(named_period("30", timezone.now()).period)
    }

    assert rows == {"budi": (50_000, 0, 0, 1), "sari": (12_000, 1, 2, 0)}
    owner: Any = browser_of("admin")
    assert f'hx-get="/earnings/beside/{sari.pk}/?days="' in owner.get(f"/staff/{sari.pk}/").content.decode()
    page = owner.get(f"/earnings/beside/{sari.pk}/?days=30").content.decode()
    assert re.findall(r'data-person="(\w+)"( class="is-own")?', page) == [("budi", ""), ("sari", ' class="is-own"')]
    assert re.findall(r"data-(cancelled|open)>(\d+)<", page.split('data-person="sari"')[1]) == [
        ("cancelled", "1"),
        ("open", "2"),
    ]


def test_a_persons_page_leads_to_the_sales_and_says_when_there_are_none():
    sari, owner = make_person("cashier", username="sari"), browser_of("admin")

    person = owner.get(f"/staff/{sari.pk}/").content.decode()
    page = owner.get(f"/earnings/beside/{sari.pk}/").content.decode()

    assert 'href="/orders/?cashier=sari"' in person
    assert 'id="did-nothing"' in page


@pytest.fixture
def yesterday_of_sari() -> User:
    """Yesterday Sari sold two for Rp24.000, three failed, two were ended; one is open now; another person sold, too."""
    sari, budi = make_person("cashier", username="sari"), make_person("cashier", username="budi")
    unsold = (Status.FAILED, Status.REJECTED, Status.REVERSED)
    for status in (Status.SUCCESS, Status.SUCCESS, *unsold, Status.CANCELLED, Status.CLOSED):
        sold(ago(1), status, placed_by=sari)
    sold(ago(0, hour=0), Status.PENDING, placed_by=sari)
    sold(ago(1), placed_by=budi, selling_price=50_000)
    return sari


def figures_on(page: str) -> dict[str, tuple[str, str]]:
    """Each figure of the person, with the list to which it leads; "zero" for the figures of the quiet line."""
    found = re.findall(r'data-figure="([\w-]+)"([^>]*)>\s*(?:<a href="([^"]*)">)?([^<]*)', page)
    return {
        name: ("zero" if "data-zero" in more else shown.strip(), html.unescape(url)) for name, more, url, shown in found
    }


def test_the_figures_of_one_day_lead_to_the_lists_of_what_they_count(yesterday_of_sari):
    sari, owner = yesterday_of_sari, browser_of("admin")
    address = f"/earnings/beside/{sari.pk}/"

    page = owner.get(f"{address}?days=yesterday").content.decode()
    figures = figures_on(page)

    folded = page.partition('<details class="sub" id="zeros">')[2].partition("</details>")[0]
    assert [part.count("data-zero") for part in folded.partition("</summary>")] == [3, 0, 3]
    assert page.count("data-zero") == 6
    assert "and 3 more" in folded
    assert [(name, shown) for name, (shown, _url) in figures.items()] == [
        ("sales", "Rp24.000"),
        ("profit", "Rp3.000"),
        ("sold", "2"),
        ("cancelled", "2"),
        ("failed", "3"),
        ("share", "40%"),
        *((name, "zero") for name in ("given-back", "difference", "open", "paid-out", "reprints", "numbers-seen")),
    ], "what is zero stands last"
    counts = {
        name: len(owner.get(figures[name][1]).context["table"].rows)
        for name in ("sold", "share", "cancelled", "failed")
    }
    assert counts == {"sold": 2, "share": 3, "cancelled": 2, "failed": 3}
    for url in filter(None, (url for _shown, url in figures.values())):
        answer = owner.get(url)
        assert (answer.status_code, answer.context["filter"].form.errors) == (200, {})
    beside = owner.get(f"{address}?days=yesterday").content.decode().split('data-person="budi"')[1]
    assert f'href="{User.objects.get(username="budi").get_absolute_url()}?days=yesterday"' in beside
    today = figures_on(owner.get(address).content.decode())
    assert (today["sold"][0], today["open"][0]) == ("0", "1")
    assert today["open"][1] == "/orders/?cashier=sari&days=today&status=open"


def test_the_figures_stand_on_the_persons_page_and_alone_and_only_those_of_the_own_rights(yesterday_of_sari):
    owner = browser_of("admin")
    address = f"/earnings/beside/{yesterday_of_sari.pk}/"

    part = owner.get(f"{address}?days=yesterday", headers={"HX-Request": "true"}).content.decode()
    page = owner.get(f"{address}?days=nonsense").content.decode()

    assert re.findall(r'data-days="(\w+)"', part + page) == ["yesterday", "today"]
    assert ["<html" in part, "<html" in page] == ["hx-get" not in part, True]
    assert [f'href="{address}?days={days}"' in page for days in ("today", "week", "month", "30")] == [True] * 4
    assert 'id="person-days-last-month"' in owner.get(f"{address}?days=last-month").content.decode()

    reader = make_person("cashier", username="reader")
    reader.user_permissions.add(Permission.objects.get(codename="view_shifts"))
    figures = figures_on(signed_in(reader).get(f"{address}?days=yesterday").content.decode())
    assert not {"profit", "numbers-seen"} & figures.keys()
    assert (figures["sales"][0], figures["reprints"]) == ("Rp24.000", ("zero", ""))
    assert browser_of("cashier").get(f"{address}?days=yesterday").status_code == 403


def test_the_part_of_a_person_takes_few_queries(yesterday_of_sari, django_assert_max_num_queries):
    owner = browser_of("admin")
    sum_past_days()

    with django_assert_max_num_queries(15):
        owner.get(f"/staff/{yesterday_of_sari.pk}/")
    for days in ("today", "yesterday", "30"):
        with django_assert_max_num_queries(15):
            owner.get(f"/earnings/beside/{yesterday_of_sari.pk}/?days={days}", headers={"HX-Request": "true"})


def test_a_drawer_that_is_open_is_not_counted_yet_and_what_was_paid_out_is_a_figure():
    sari, owner = make_person("cashier", username="sari"), browser_of("admin", language="en")
    shift = begin(sari, cash=100_000)
    address = f"/earnings/beside/{sari.pk}/"
    pay_out(shift, amount=20_000, reason="Petrol", actor=sari)
    assert "Petrol" in owner.get(address).content.decode()
    pay_out(shift, amount=5_000, reason="Petrol", actor=sari)
    pay_in(shift, amount=7_000, reason="Change", actor=sari)

    page = owner.get(address).content.decode()
    figures = figures_on(page)

    assert "Petrol" not in page, "they are two, each with a reason of its own"
    assert figures["difference"] == ("not counted yet", f"/shifts/{shift.pk}/")
    assert figures["paid-out"] == ("Rp25.000", f"/shifts/{shift.pk}/"), (
        "a list of shifts names no sum that was paid out"
    )
    assert "Rp0" not in page.split("data-difference>")[1].partition("</td>")[0]
    close_shift(shift, pieces=pieces_of(80_000), actor=sari, reason="Short")
    figures = figures_on(owner.get(address).content.decode())
    assert figures["difference"][0] == "−Rp2.000"
    begin(sari, cash=80_000, drawer=shift.drawer)
    figures = figures_on(owner.get(address).content.decode())
    assert figures["paid-out"] == ("Rp25.000", f"/shifts/?cashier={sari.pk}&days=today")


def test_given_a_dearer_debt_then_just_that_is_given_back():
    shift = begin(make_person("cashier", username="sari"), cash=100_000)
    order = sell_to(give_credit(), 10_000, by=shift.cashier)
    close_shift(shift, pieces=pieces_of(100_000), actor=shift.cashier)
    with transaction.atomic():
        follow_price(order.payment_id, 12_000, actor=shift.cashier)

    take_off(end(order, "failed"), actor=shift.cashier)

    (row,) = people_beside(named_period("today", timezone.now()).period)
    assert (row.person, row.given_back) == (shift.cashier, 12_000)
