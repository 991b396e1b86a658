"""The closing of a day: signed by an owner, it is frozen."""

import datetime as dt

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from drawers.errors import DrawerRefused
from drawers.models import DrawerDay
from drawers.services import close_shift, day_lines, sign_day
from tests.drawers.helpers import begin, end, pieces_of, sell
from tests.people import make_person

pytestmark = pytest.mark.django_db(transaction=True)


def refused(reason):
    return pytest.raises(DrawerRefused, check=lambda refusal: refusal.reason == reason)


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


def test_an_owner_signs_a_day_and_nobody_else():
    shift = closed_shift()

    with refused("no_right"):
        sign_day(shift.day.day, actor=make_person("administrator"))
    signed = sign_day(shift.day.day, actor=make_person("admin"))

    assert (signed.signed_by.username, signed.facts["lines"][0]["counted"]) == ("admin", 100_000)
    with refused("day_signed"):
        sign_day(shift.day.day, actor=signed.signed_by)


def test_a_signed_day_shows_what_was_signed_whatever_comes():
    shift = begin(cash=100_000)
    order = sell(shift.cashier, 5_000)
    day = close_shift(shift, pieces=pieces_of(105_000), actor=shift.cashier).day
    before = sign_day(day.day, actor=make_person("admin")).facts

    end(order, "success")

    assert [line.plain() for line in day_lines(DrawerDay.objects.get())] == before["lines"]
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("UPDATE drawers_drawerday SET facts = '{}'")


def test_a_day_with_an_open_shift_or_without_any_is_not_signed():
    owner, today = make_person("admin"), timezone.localdate()
    with refused("day_empty"):
        sign_day(today, actor=owner)
    closed_shift()
    begin(make_person("supervisor"))

    with refused("day_open"):
        sign_day(today, actor=owner)


def test_a_shift_that_closes_on_a_signed_day_belongs_to_the_next():
    first = closed_shift()
    sign_day(first.day.day, actor=make_person("admin"))

    later = closed_shift("other")

    assert later.day.day == first.day.day + dt.timedelta(days=1)
