"""The closing of a day: signed by an owner, it is frozen."""

import csv
import datetime as dt
import re

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils import timezone

from audit.models import AuditEvent
from branches.models import FIRST
from branches.services import branch_name
from core.times import start_of_day
from drawers.models import Drawer, DrawerDay, Payment, Shift
from drawers.services import (
    PaymentFacts,
    close_shift,
    day_lines,
    hand_over,
    pay_out,
    seal_of,
    shifts,
    sign_day,
    sold_in_no_shift,
    take_credit_payment,
)
from drawers.services.totals import totals_of
from drawers.views import days
from staff.models import User
from testing.database import past_triggers
from testing.factories import make_product
from testing.orders import place
from testing.people import browser_of, make_person
from tests.branches.helpers import make_branch
from tests.core.helpers import codes, has_id, hidden
from tests.credit.helpers import account_of, give_credit, sell_to
from tests.drawers.helpers import begin, end, end_of_day, pieces_of, refused, sell

pytestmark = pytest.mark.django_db(transaction=True)


def just_before_today():
    return start_of_day(timezone.localdate()) - dt.timedelta(seconds=1)


def closed_shift(name="cashier", cash=100_000):
    shift = begin(make_person("cashier", username=name), cash=cash)
    return close_shift(shift, pieces=pieces_of(cash), actor=shift.cashier)


def test_a_day_has_the_sums_of_its_shifts_by_cashier():
    shift = begin(cash=100_000)
    end(sell(shift.cashier, 5_000), "success")
    close_shift(shift, pieces=pieces_of(104_000), actor=shift.cashier, reason="?")

    line = day_lines(shift.__class__.objects.get().day)[0]

    assert (line.cashier, line.counted, line.difference) == ("cashier", 104_000, -1_000)
    assert (line.totals.all_sales, line.totals.cost, line.totals.expected) == (5_000, 5_000, 105_000)


def test_what_ends_after_closing_lands_in_the_next_shift():
    """The cash stays in the shift that took it. The sale's outcome and profit count once, in the shift of its end."""
    first = begin(cash=100_000)
    product = make_product(price=4_000, selling_price=5_000)
    early, late = (place(product, placed_by=first.cashier) for _ in range(2))
    end(early, "success")
    day = close_shift(first, pieces=pieces_of(110_000), actor=first.cashier).day
    end(late, "success")
    assert Payment.objects.get(ref_id=late.ref_id).ended_in is None
    second = begin(first.cashier, drawer=first.drawer, cash=110_000)
    third = close_shift(second, pieces=pieces_of(110_000), actor=first.cashier)
    begin(first.cashier, drawer=first.drawer, cash=110_000)

    totals = [line.totals for line in day_lines(day)]
    assert [(sums.all_sales, sums.cost, sums.profit) for sums in totals] == [(10_000, 4_000, 1_000), (0, 4_000, 1_000)]
    assert [line.shift for line in day_lines(day)] == [first.pk, third.pk]
    payment = Payment.objects.get(ref_id=late.ref_id)
    assert (payment.sold_in, payment.ended_in, payment.cost) == (first, second, 4_000)
    arrived = totals_of([first.pk, second.pk], with_cost=True).values()
    assert [(sums.all_sales, sums.arrived) for sums in arrived] == [(10_000, 5_000), (0, 5_000)]
    browser = browser_of("admin")
    pages = [browser.get(f"/shifts/{shift.pk}/").content.decode() for shift in Shift.objects.order_by("pk")]
    ended_later = [re.search(r'id="ended-later">(.*?)</section>', page, re.DOTALL) for page in pages]
    ended_here = [re.search(r'id="ended-here">(.*?)</section>', page, re.DOTALL) for page in pages]
    assert [bool(sums) for sums in ended_later] == [True, False, False]
    assert [bool(sums) for sums in ended_here] == [False, True, False]
    assert all(late.ref_id in sums[1] and early.ref_id not in sums[1] for sums in (ended_later[0], ended_here[1]))
    assert f"/shifts/{second.pk}/" in ended_later[0][1]
    assert f"/shifts/{first.pk}/" in ended_here[1][1]


def test_what_ends_many_shifts_later_counts_once():
    shifts = [begin(cash=100_000)]
    cashier, drawer = shifts[0].cashier, shifts[0].drawer
    late = place(make_product(price=4_000, selling_price=5_000), placed_by=cashier)
    close_shift(shifts[0], pieces=pieces_of(105_000), actor=cashier)
    for _ in range(3):
        shifts.append(begin(cashier, drawer=drawer, cash=105_000))
        close_shift(shifts[-1], pieces=pieces_of(105_000), actor=cashier)
    with past_triggers() as cursor:
        cursor.execute("UPDATE purchases_order SET created_at = created_at - interval '3 days'")
        cursor.execute(
            "UPDATE drawers_shift SET opened_at = opened_at - interval '3 days',"
            " closed_at = closed_at - interval '3 days'"
        )
    shifts.append(begin(cashier, drawer=drawer, cash=105_000))
    end(late, "success")

    totals = totals_of([shift.pk for shift in shifts], with_cost=True)

    assert [totals[shift.pk].profit for shift in shifts] == [0, 0, 0, 0, 1_000]
    payment = Payment.objects.get()
    assert (payment.sold_in, payment.ended_in) == (shifts[0], shifts[-1])


def test_cash_that_was_handed_over_counts_once_in_a_day():
    shift = begin(cash=100_000)
    count = {"pieces": pieces_of(99_000), "actor": shift.cashier, "reason": "?"}
    second = hand_over(shift, to=make_person("supervisor"), **count)
    sell(second.cashier, 5_000)
    close_shift(second, pieces=pieces_of(104_000), actor=second.cashier)
    browser, day = browser_of("admin"), end_of_day()
    address = f"/shifts/days/{day}/"

    before = browser.get(address).context["sum"]
    sign_day(day, actor=User.objects.get(username="admin"))

    assert (before["expected"], before["counted"], before["difference"]) == (105_000, 104_000, -1_000)
    assert browser.get(address).context["sum"] == before


def test_a_days_cash_is_each_drawers_last_count_and_every_difference():
    """Two shifts of one drawer, the second of which begins with less than the first left; and another drawer."""
    first = begin(cash=100_000)
    close_shift(first, pieces=pieces_of(99_500), actor=first.cashier, reason="Coins")
    second = begin(first.cashier, drawer=first.drawer, cash=90_000)
    sell(second.cashier, 5_000)
    close_shift(second, pieces=pieces_of(95_000), actor=second.cashier)
    closed_shift("other", cash=70_000)
    browser, address = browser_of("admin"), f"/shifts/days/{end_of_day()}/"

    asked = browser.get(f"{address}sign/")
    pages = [browser.get(address).content.decode(), asked.content.decode()]
    browser.post(f"{address}sign/", {"factor_code": "000000", **hidden(asked)})
    assert DrawerDay.objects.get().signed_at is None
    browser.confirm(f"{address}sign/", hidden(asked))
    pages.append(browser.get(address).content.decode())
    assert [['id="signed"' in page, f'href="{address}sign/"' in page] for page in pages[::2]] == [
        [False, True],
        [True, False],
    ]
    rows = list(
        csv.DictReader(b"".join(browser.get(f"{address}csv/").streaming_content).decode("utf-8-sig").splitlines())
    )

    for page in pages:
        figures = re.findall(r'id="day-(expected|counted|difference)" data-amount="(-?\d+)"', page)
        assert figures == [("expected", "175000"), ("counted", "165000"), ("difference", "-10000")]
        assert f'data-opening="{second.pk}" data-amount="-9500"' in page
        assert "began with Rp90.000. The shift before had left Rp99.500." in page
        assert re.findall(r'data-method="(\w+)" data-amount="(\d+)"', page) == [("cash", "5000")]
        cash = page.split('id="day-cash"')[1].split("</tr>")[0]
        assert re.findall(r'data-part="(\w+)" data-amount="(-?\d+)"', cash) == [
            ("before", "170000"),
            ("cash_sales", "5000"),
        ]
    assert sum(int(row["last_count"]) for row in rows) == 165_000
    assert sum(int(row["difference"]) + int(row["opening_difference"]) for row in rows) == -10_000
    assert [row["opening_reason"] for row in rows] == ["", "another amount", ""]
    assert [line["opening_difference"] for line in DrawerDay.objects.get().facts["lines"]] == [0, -9_500, 0]
    assert AuditEvent.objects.get(kind="day_signed").facts["difference"] == -10_000


def test_a_day_of_many_shifts_is_paged_and_its_sums_are_those_of_all(monkeypatch):
    shifts = [closed_shift(f"cashier{number}", cash=100_000 + number) for number in (100, 200, 300)]
    browser, address = browser_of("admin"), f"/shifts/days/{end_of_day()}/"
    whole = browser.get(address).content.decode()
    monkeypatch.setattr(days, "_ROWS", 2)

    pages = [browser.get(f"{address}{query}").content.decode() for query in ("", "?page=2", "?all=1", "sign/")]

    keys = [str(shift.pk) for shift in shifts]
    assert [re.findall(r'data-shift="(\d+)"', page) for page in pages] == [keys[:2], keys[2:], keys, keys]
    assert {re.search(r'id="day-counted" data-amount="(\d+)"', page)[1] for page in [whole, *pages]} == {"300600"}
    assert ['id="day-shifts"' in page for page in [whole, *pages]] == [False, True, True, False, False]


def test_a_signed_day_adds_up_as_before_in_the_order_of_the_ways_to_pay():
    shift = begin(cash=100_000)
    sell(shift.cashier, 5_000)
    sell(shift.cashier, 7_000, payment=PaymentFacts(method="qris"))
    sell(shift.cashier, 8_000, payment=PaymentFacts(method="transfer"))
    pay_out(shift, amount=2_000, reason="Water", actor=shift.cashier)
    close_shift(shift, pieces=pieces_of(103_000), actor=shift.cashier)
    browser, day = browser_of("admin"), end_of_day()

    def shown():
        page = browser.get(f"/shifts/days/{day}/").content.decode()
        cash = page.split(f'data-cash="{shift.pk}"')[1].split("</tr>")[0]
        return re.findall(r'data-method="(\w+)"', page), re.findall(r'data-part="\w+" data-amount="(-?\d+)"', cash)

    before = shown()
    sign_day(day, actor=User.objects.get(username="admin"))

    assert before == (["cash", "transfer", "qris"], ["100000", "5000", "-2000"])
    assert shown() == before


def test_a_day_that_was_signed_before_shows_what_was_signed_then():
    for number in range(2):
        closed_shift(f"cashier{number}")
    day = sign_day(end_of_day(), actor=make_person("admin"))
    lines = day.facts["lines"]
    for line in lines:
        for name in ("is_last_of_drawer", "opening_difference", "opening_reason"):
            del line[name]
    lines[0]["is_handed_on"] = True
    with past_triggers():
        day.save()

    page = browser_of("auditor").get(day.get_absolute_url())

    assert page.context["sum"]["counted"] == 100_000
    assert 'id="signed-before"' in page.content.decode()


def test_a_signed_day_shows_what_was_signed_whatever_comes():
    shift = begin(cash=100_000)
    order = sell(shift.cashier, 5_000)
    close_shift(shift, pieces=pieces_of(105_000), actor=shift.cashier)
    day = end_of_day()
    address = f"/shifts/days/{day}/"
    assert has_id(browser_of("administrator").get(address), "not-signed")
    assert has_id(browser_of("admin").get(address), "to-sign")

    with refused("no_right"):
        sign_day(day, actor=User.objects.get(username="administrator"))
    signed = sign_day(day, actor=User.objects.get(username="admin"))

    assert (signed.signed_by.username, signed.facts["lines"][0]["counted"]) == ("admin", 105_000)
    with refused("day_signed"):
        sign_day(day, actor=signed.signed_by)
    end(order, "success")
    assert [line.plain() for line in day_lines(DrawerDay.objects.get())] == signed.facts["lines"]
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE drawers_drawerday SET facts = '{}'")


def test_a_day_with_an_open_shift_or_without_any_is_not_signed():
    owner = make_person("admin")
    with refused("day_empty"):
        sign_day(timezone.localdate() - dt.timedelta(days=1), actor=owner)
    closed_shift()
    begin(make_person("supervisor"))

    with refused("day_open"):
        sign_day(end_of_day(), actor=owner)


def test_a_shift_that_closes_when_its_day_is_signed_belongs_to_the_next(monkeypatch):
    """The shift's end and the signature meet at midnight."""
    closed_shift()
    yesterday = end_of_day()
    late = begin(make_person("cashier", username="late"), cash=100_000)
    sign_day(yesterday, actor=make_person("admin"))
    monkeypatch.setattr(shifts.clock, "now", just_before_today)

    closed = close_shift(late, pieces=pieces_of(100_000), actor=late.cashier)

    assert closed.day.day == yesterday + dt.timedelta(days=1)


def test_a_running_day_is_neither_offered_for_signing_nor_signed():
    day = closed_shift().day
    browser = browser_of("admin")
    address = day.get_absolute_url()

    page, sign = browser.get(address), browser.get(f"{address}sign/")
    refusal = browser.confirm(f"{address}sign/", {"seen": seal_of(day_lines(day))}, follow=True)

    assert has_id(page, "day-running")
    assert not has_id(page, "to-sign")
    assert (sign.status_code, sign.url) == (302, address)
    assert codes(refusal) == {"DrawerRefused:day_running"}
    day.refresh_from_db()
    assert day.signed_at is None
    with pytest.raises(IntegrityError, match="drawer_day_signed_when_it_is_over"):
        DrawerDay.objects.filter(pk=day.pk).update(
            signed_at=timezone.now(), signed_by=User.objects.get(username="admin")
        )


def test_a_day_that_was_not_shown_so_is_not_signed(monkeypatch):
    """A short shift that closed at midnight appears between view and signature: the owner must see it first."""
    closed_shift()
    browser, address = browser_of("admin"), f"/shifts/days/{end_of_day()}/"
    seen = browser.get(f"{address}sign/")
    short = begin(make_person("cashier", username="short"), cash=900_000)
    with monkeypatch.context() as at_midnight:
        at_midnight.setattr(shifts.clock, "now", just_before_today)
        close_shift(short, pieces=pieces_of(100_000), actor=short.cashier, reason="?")

    for fields in (hidden(seen), {}):
        page = browser.confirm(f"{address}sign/", fields, follow=True)
        assert "DrawerRefused:day_moved" in codes(page)
        assert f'data-shift="{short.pk}"' in page.content.decode()
        assert DrawerDay.objects.get().signed_at is None

    browser.confirm(f"{address}sign/", hidden(browser.get(f"{address}sign/")))
    assert [line["difference"] for line in DrawerDay.objects.get().facts["lines"]] == [0, -800_000]


def test_what_is_expected_follows_from_the_files_columns():
    shift = begin(cash=100_000)
    customer = give_credit()
    sell_to(customer, 50_000, by=shift.cashier)
    sell(shift.cashier, 30_000)
    take_credit_payment(account_of(customer), amount=20_000, method="cash", actor=shift.cashier)
    pay_out(shift, amount=5_000, reason="Fuel", actor=shift.cashier)
    close_shift(shift, pieces=pieces_of(145_000), actor=shift.cashier)

    file = browser_of("admin").get(f"/shifts/days/{timezone.localdate()}/csv/")

    [row] = csv.DictReader(b"".join(file.streaming_content).decode("utf-8-sig").splitlines())
    cash = ("opening", "cash_sales", "cash_given_back", "credit_paid_in_cash", "paid_in", "paid_out")
    assert int(row["expected"]) == sum(int(row[name]) for name in cash) == 145_000


def test_a_days_file_names_each_shifts_branch_only_in_a_shop_with_several():
    closed_shift()
    browser, address = browser_of("admin"), f"/shifts/days/{timezone.localdate()}/csv/"

    def branches() -> list[str | None]:
        file = b"".join(browser.get(address).streaming_content).decode("utf-8-sig")
        return [row.get("branch") for row in csv.DictReader(file.splitlines())]

    alone, tebet = branches(), make_branch("Tebet")
    shift = begin(
        make_person("cashier", username="tini", branch=tebet),
        drawer=Drawer.objects.create(name="Tebet 1", branch=tebet),
    )
    close_shift(shift, pieces=pieces_of(200_000), actor=shift.cashier)

    assert alone == [None]
    assert branches() == [branch_name(FIRST), "Tebet"]


def test_sales_that_no_shift_has_are_named_before_a_day_is_signed():
    day, cashier = timezone.localdate() - dt.timedelta(days=1), make_person("cashier")
    early = sell(cashier, 7_000)
    outside = end(sell(cashier, 3_000), "success")
    sell(None, 9_000)  # an order of a command: nobody took money at a counter
    shift = begin(cashier, cash=100_000)
    sell(cashier, 5_000)
    assert sold_in_no_shift(timezone.localdate()) == (2, 10_000)
    close_shift(shift, pieces=pieces_of(105_000), actor=cashier)
    end(early, "failed")

    assert sold_in_no_shift(day) == (0, 0)
    page = browser_of("supervisor").get(f"/shifts/days/{timezone.localdate()}/")
    assert 'id="in-no-shift" data-count="1" data-amount="3000"' in page.content.decode()
    assert f'href="/orders/{outside.ref_id}/"' in page.content.decode()
    assert has_id(page, "day-counts")


def test_a_reversed_sale_on_no_account_is_no_sale_in_no_shift():
    # given: a sale on credit that came back after a restore without its debtor and its shift
    order = sell(make_person("cashier"), 7_000)
    with past_triggers():
        Payment.objects.filter(ref_id=order.ref_id).update(method="credit", outcome="kept", ended_at=timezone.now())
    assert sold_in_no_shift(timezone.localdate()) == (1, 7_000)

    with past_triggers():
        Payment.objects.filter(ref_id=order.ref_id).update(outcome="owed")

    assert sold_in_no_shift(timezone.localdate()) == (0, 0)


def test_a_sale_that_waits_for_a_person_who_is_switched_off_is_in_no_shift():
    # given: a sale that its seller asked for in a shift, and that was placed after the shift had closed
    cashier, today = make_person("cashier"), timezone.localdate()
    shift = begin(cashier, cash=100_000)
    close_shift(shift, pieces=pieces_of(100_000), actor=cashier)
    sell(cashier, 7_000, payment=PaymentFacts(agreed_in=shift.pk, is_agreed=True))
    assert sold_in_no_shift(today) == (0, 0)  # the next shift takes it in
    page = browser_of("supervisor").get(f"/shifts/days/{today}/").content.decode()
    assert 'id="for-next-shifts" data-count="1" data-amount="7000"' in page

    User.objects.filter(pk=cashier.pk).update(is_active=False)

    assert sold_in_no_shift(today) == (1, 7_000)
    assert sold_in_no_shift(today, FIRST) == (1, 7_000)
    page = browser_of("auditor").get(f"/shifts/days/{today}/").content.decode()
    assert 'id="in-no-shift" data-count="1" data-amount="7000"' in page
    assert 'id="for-next-shifts"' not in page
