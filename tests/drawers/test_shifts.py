"""A shift from its first count to its last: it always closes, and never changes afterwards."""

import re
import uuid
from functools import partial

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils import timezone

from audit.models import AuditEvent
from drawers.errors import DifferenceUnexplained, TooLittleCash
from drawers.models import Drawer, DrawerEntry, Shift
from drawers.services import (
    change_payment,
    close_shift,
    correct_count,
    expected_cash,
    open_shift,
    pay_in,
    pay_out,
)
from drawers.services.locking import lock_shift
from staff.models import User
from testing.orders import at_once
from testing.people import browser_of, make_person, signed_in
from tests.core.helpers import has_id
from tests.drawers.helpers import begin, make_drawer, pieces_of, refused, sell

pytestmark = pytest.mark.django_db(transaction=True)

ADD_ENTRY = """
    INSERT INTO drawers_drawerentry (shift_id, kind, method, amount, ref_id, reason, person_id, at)
    SELECT id, 'paid_out', 'cash', -5, '', 'x', cashier_id, now() FROM drawers_shift
"""


def test_a_shift_begins_with_what_was_counted_once():
    shift = begin(cash=153_700)

    assert (shift.opening, expected_cash(shift)) == (153_700, 153_700)
    assert DrawerEntry.objects.get().kind == DrawerEntry.Kind.OPENING
    other, off = make_person("supervisor"), Drawer.objects.create(name="Off", is_active=False)
    with refused("drawer_taken"):
        begin(other, drawer=shift.drawer)
    with refused("person_busy"):
        begin(shift.cashier, drawer=make_drawer("Other"))
    with refused("no_right"):
        begin(make_person("viewer"))
    with refused("drawer_off"):
        open_shift(off, pieces=pieces_of(0), actor=other)
    with pytest.raises(transaction.TransactionManagementError):
        lock_shift(shift.pk)
    assert Shift.objects.count() == 1


def test_a_difference_asks_for_a_reason_and_closes():
    for counted in (0, 101_000):
        shift = begin(make_person("cashier", username=f"c{counted}"), cash=100_000)

        with pytest.raises(DifferenceUnexplained) as refusal:
            close_shift(shift, pieces=pieces_of(counted), actor=shift.cashier)
        closed = close_shift(shift, pieces=pieces_of(counted), actor=shift.cashier, reason="I do not know")

        assert refusal.value.difference == closed.difference == counted - 100_000


def test_a_large_difference_is_an_event_of_the_audit(settings):
    settings.POLICIES = {"drawer_difference_limit": 5_000}
    for number, counted in enumerate((95_000, 94_900)):
        shift = begin(make_person("cashier", username=f"c{number}"), cash=100_000)
        close_shift(shift, pieces=pieces_of(counted), actor=shift.cashier, reason="?")

    assert AuditEvent.objects.get(kind="drawer_difference").facts["difference"] == -5_100


def test_a_closed_shift_takes_nothing_and_stays():
    shift = begin(cash=100_000)
    close_shift(shift, pieces=pieces_of(100_000), actor=shift.cashier)

    with refused("closed"):
        pay_in(shift, amount=1_000, reason="Late", actor=shift.cashier)
    with refused("closed"):
        close_shift(shift, pieces=pieces_of(100_000), actor=shift.cashier)
    for statement in (
        "UPDATE drawers_shift SET counted = 0, difference = -expected, reason = 'x'",
        "UPDATE drawers_shift SET closed_at = NULL",
        (
            "UPDATE drawers_shift SET first_counted = counted, correction = 'x', expected = 90000, difference = 10000,"
            " reason = 'x'"
        ),
        "UPDATE drawers_shift SET first_counted = 5, correction = 'x'",
        "DELETE FROM drawers_shift",
        "TRUNCATE drawers_shift CASCADE",
        "UPDATE drawers_drawerentry SET amount = 1",
        "DELETE FROM drawers_drawerentry",
        ADD_ENTRY,
    ):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


def test_a_count_is_corrected_once_with_a_reason():
    shift = begin(cash=100_000)
    fix = partial(correct_count, shift, actor=shift.cashier)
    with refused("in_use"):
        fix(pieces=pieces_of(100_000), reason="Too early")
    close_shift(shift, pieces=pieces_of(50_000), actor=shift.cashier, reason="?")
    with refused("no_correction"):
        fix(pieces=pieces_of(100_000), reason=" ")
    other = make_person("supervisor")
    with refused("not_yours"):
        correct_count(shift, pieces=pieces_of(100_000), actor=other, reason="Not mine")

    fixed = fix(pieces=pieces_of(100_000), reason="One note not typed")

    assert (fixed.first_counted, fixed.counted, fixed.expected) == (50_000, 100_000, 100_000)
    assert (fixed.difference, fixed.reason, fixed.correction) == (0, "", "One note not typed")
    facts = AuditEvent.objects.get(kind="count_corrected").facts
    assert (facts["before"], facts["counted"], facts["difference"]) == (50_000, 100_000, 0)
    assert DrawerEntry.objects.count() == 1
    with refused("corrected"):
        fix(pieces=pieces_of(50_000), reason="Again")
    assert begin(other, drawer=shift.drawer, cash=100_000).left_before == 100_000


def test_a_corrected_count_is_not_explained_by_the_rounding_of_the_first():
    counts = {201_000: "One note too many", 210_600: "2 cash sales for whose amounts there is no coin, rounded up."}
    for fixed, reason in counts.items():
        shift = begin(make_person("cashier", username=f"counts-{fixed}"), cash=100_000)
        for amount in (50_250, 60_250):
            sell(shift.cashier, amount)
        close_shift(shift, pieces=pieces_of(210_600), actor=shift.cashier)

        corrected = correct_count(shift, pieces=pieces_of(fixed), actor=shift.cashier, reason="One note too many")

        assert (corrected.difference, corrected.reason) == (fixed - 210_500, reason)


def test_a_count_is_corrected_on_its_page():
    cashier = browser_of("cashier")
    shift = begin(User.objects.get(username="cashier"), cash=100_000)
    close_shift(shift, pieces=pieces_of(50_000), actor=shift.cashier, reason="Fifty for the courier")
    address = f"/shifts/{shift.pk}/correct/"
    assert f'href="{address}"' in cashier.get(f"/shifts/{shift.pk}/").content.decode()
    assert 'name="pieces_50000" value="1"' in cashier.get(address).content.decode()

    cashier.post(address, {"pieces_100000": 1, "reason": "One note not typed"})

    page = cashier.get(f"/shifts/{shift.pk}/").content.decode()
    assert 'id="shift-correction" data-amount="50000"' in page
    assert "Fifty for the courier" in page.split('id="shift-first-reason"')[1].split("</p>")[0]
    assert address not in page
    shift.refresh_from_db()
    assert (shift.counted, shift.difference) == (100_000, 0)

    again = cashier.get(address)
    assert has_id(again, "corrected-before")
    assert not has_id(again, "correct-shift")
    assert f'href="/shifts/{shift.pk}/"' in again.content.decode()
    answer = cashier.post(address, {"pieces_50000": 1, "reason": "Once more"}, follow=True)
    assert 'data-code="DrawerRefused:corrected"' in answer.content.decode()
    assert Shift.objects.get(pk=shift.pk).counted == 100_000


def test_the_database_closes_by_the_sum_of_the_entries_only():
    shift = begin(cash=100_000)
    close_shift(begin(make_person("supervisor")), pieces=pieces_of(200_000), actor=make_person("admin"))
    statement = (
        "UPDATE drawers_shift SET closed_at = now(), closed_by_id = cashier_id, counted = 90000,"
        " counted_pieces = ARRAY[0,1,2,0,0,0,0,0,0,0]::bigint[], expected = %s, difference = 90000 - %s, reason = 'x',"
        " day_id = (SELECT max(id) FROM drawers_drawerday) WHERE id = %s"
    )

    with (
        pytest.raises(DatabaseError, match="sum of its sales and entries"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement, [90_000, 90_000, shift.pk])


def test_another_cashier_touches_no_shift_but_a_manager_closes_it():
    shift, other = begin(cash=100_000), make_person("cashier", username="other")

    with refused("not_yours"):
        pay_out(shift, amount=1, reason="x", actor=other)
    with refused("not_yours"):
        close_shift(shift, pieces=pieces_of(100_000), actor=other)
    closed = close_shift(shift, pieces=pieces_of(100_000), actor=make_person("administrator"))

    assert closed.closed_by.username == "administrator"


def test_no_more_cash_is_paid_out_than_the_drawer_holds():
    """A sale of a moment ago counts; a transfer does not."""
    shift = begin(cash=100_000)
    sell(shift.cashier, 6_000)
    change_payment(sell(shift.cashier, 50_000).payment, method="transfer", actor=shift.cashier)

    with refused("no_reason"):
        pay_out(shift, amount=1_000, reason="  ", actor=shift.cashier)
    with pytest.raises(TooLittleCash) as refusal:
        pay_out(shift, amount=106_001, reason="To the safe", actor=shift.cashier)
    token = uuid.uuid4()
    paid = [pay_out(shift, amount=106_000, reason="To the safe", actor=shift.cashier, token=token) for _ in range(2)]

    assert refusal.value.there == 106_000
    assert (paid[0], expected_cash(shift)) == (paid[1], 0)


def test_of_two_who_pay_out_all_the_cash_at_once_one_does():
    shift = begin(cash=100_000)
    pay = partial(pay_out, shift, amount=60_000, reason="To the safe", actor=shift.cashier)

    results = at_once(*[pay] * 4)

    assert sum(isinstance(result, TooLittleCash) for result in results) == 3
    assert expected_cash(shift) == 40_000


def test_the_database_keeps_how_a_shift_began_and_pays_out_no_more_than_there_is():
    shift = begin(cash=0)
    for change in ("opening = 5", "opening_pieces = '{1}'", "cashier_id = cashier_id + 1"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE drawers_shift SET {change}")  # noqa: S608
    with pytest.raises(IntegrityError, match="opening_adds_up"), transaction.atomic():
        Shift.objects.create(
            drawer=make_drawer("Other"),
            cashier=make_person("supervisor"),
            opened_at=shift.opened_at,
            opening=1_000,
            opening_pieces=[0] * 10,
        )

    with pytest.raises(DatabaseError, match="holds less cash"), connection.cursor() as cursor:
        cursor.execute(ADD_ENTRY)


def test_an_opening_that_is_not_what_was_left_says_why_on_both_pages():
    first = begin(cash=500_000)
    cashier, drawer = first.cashier, first.drawer
    close_shift(first, pieces=pieces_of(500_000), actor=cashier)
    browser = signed_in(cashier)
    counted = {"drawer": drawer.pk, "pieces_100000": "3"}

    refused_page = browser.post("/drawer/open/", counted)

    assert "OpeningUnexplained" in refused_page.context["form"].errors.as_json()
    assert Shift.objects.count() == 1
    browser.post("/drawer/open/", {**counted, "reason": "Two to the safe"})
    second = Shift.objects.get(closed_at=None)
    assert (second.left_before, second.opening, second.opening_reason) == (500_000, 300_000, "Two to the safe")
    event = AuditEvent.objects.get(kind="drawer_opened_otherwise")
    assert (event.person, event.facts["difference"]) == (cashier, -200_000)
    admin = browser_of("admin")
    pages = [admin.get(shift.get_absolute_url()).content.decode() for shift in (first, second)]
    assert 'id="opened-after" data-amount="-200000"' in pages[0]
    assert 'id="opened-otherwise" data-amount="-200000"' in pages[1]
    papers = [admin.get(f"{shift.get_absolute_url()}?paper=80").content.decode() for shift in (first, second)]
    assert [re.findall(r'id="(paper-open\w+(?:-after)?)" data-amount="(-?\d+)"', paper) for paper in papers] == [
        [("paper-opened-after", "-200000")],
        [("paper-opening", "-200000")],
    ]
    pages += papers
    assert all("Two to the safe" in page for page in pages)
    assert all("\N{MINUS SIGN}Rp200.000" in page for page in pages)


def test_the_database_knows_what_the_last_count_left():
    first = close_shift(shift := begin(cash=100_000), pieces=pieces_of(100_000), actor=shift.cashier)
    facts = {"drawer": first.drawer, "cashier": first.cashier, "opened_at": timezone.now()}
    for left, reason in ((None, ""), (0, "x"), (100_000, "")):
        with pytest.raises(DatabaseError), transaction.atomic():
            Shift.objects.create(**facts, opening=0, opening_pieces=[0] * 10, left_before=left, opening_reason=reason)
