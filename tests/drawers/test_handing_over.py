"""A shift is handed over: one closes, the next begins with its count. It takes the next person's own password."""

import datetime as dt

import pytest
from django.test import override_settings
from django.utils import timezone

from audit.models import AuditEvent
from drawers.errors import OpeningUnexplained
from drawers.models import DrawerDay, DrawerEntry, Shift
from drawers.services import cash_of_day, close_shift, correct_count, day_lines, hand_over, open_shift
from staff.models import Throttle
from testing.people import make_person, signed_in
from tests.core.helpers import codes
from tests.drawers.helpers import begin, pieces_of, refused, sell
from tests.tills.helpers import WRONG, take_over, till_browser, who_is_at, with_pin
from tills.models import Till

pytestmark = pytest.mark.django_db(transaction=True)


def test_handing_over_closes_one_and_begins_the_next_with_the_count():
    shift, next_person = begin(cash=100_000), make_person("supervisor")
    sell(shift.cashier, 10_000)
    busy = begin(make_person("cashier", username="busy")).cashier
    with refused("person_busy"):
        hand_over(shift, to=busy, pieces=pieces_of(110_000), actor=shift.cashier)
    shift.refresh_from_db()
    assert shift.is_open

    taken = hand_over(shift, to=next_person, pieces=pieces_of(110_000), actor=shift.cashier)

    shift.refresh_from_db()
    assert (shift.difference, shift.handed_to) == (0, taken)
    assert (taken.cashier, taken.drawer, taken.opening) == (next_person, shift.drawer, 110_000)
    assert taken.entries.get().kind == DrawerEntry.Kind.HANDOVER


def hand_over_on_page(browser, shift, to, secret):
    count = {"pieces_100000": "1", "to": to.pk, "secret": secret}
    return browser.post(f"/shifts/{shift.pk}/close/", count)


def test_nobody_is_handed_a_drawer_without_their_own_password():
    shift, away = begin(cash=100_000), make_person("cashier", username="away")
    browser = signed_in(shift.cashier)
    invited = make_person("cashier", username="invited")
    invited.set_unusable_password()
    invited.save()
    offered = browser.get(f"/shifts/{shift.pk}/close/").context["form"].fields["to"].queryset
    assert [person.username for person in offered] == ["away"]

    for secret in ("", "not theirs"):
        page = hand_over_on_page(browser, shift, away, secret)
        assert list(page.context["form"].errors) == ["secret"]
        assert not Shift.objects.filter(cashier=away).exists()
    assert AuditEvent.objects.get(kind="password_refused").subject == "away"
    for _ in range(5):
        page = hand_over_on_page(browser, shift, away, "not theirs")
    assert "FactorRefused:slow_password" in page.context["form"].errors.as_json()
    hand_over_on_page(browser, shift, away, "secret-words")
    assert not Shift.objects.filter(cashier=away).exists()

    Throttle.objects.all().delete()
    short = {"pieces_50000": "1", "to": away.pk, "secret": "secret-words"}
    assert list(browser.post(f"/shifts/{shift.pk}/close/", short).context["form"].errors) == ["reason"]
    assert not AuditEvent.objects.filter(kind="drawer_taken_over").exists()
    handed = hand_over_on_page(browser, shift, away, "secret-words")
    assert "handed_still_here" in codes(browser.get(handed["Location"]))
    assert who_is_at(browser) == shift.cashier.username
    assert Shift.objects.get(cashier=away).taken_from == shift
    taken = AuditEvent.objects.get(kind="drawer_taken_over")
    assert (taken.person, taken.subject, taken.facts["drawer"]) == (away, f"shift {shift.pk}", shift.drawer.name)


def test_at_a_till_who_takes_over_types_the_pin():
    giver, taker = with_pin("cashier"), with_pin("cashier", pin="519372", username="taker", is_oidc=True)
    browser = till_browser()
    take_over(browser, giver)
    shift = begin(giver, cash=100_000)

    with override_settings(OIDC_ISSUER="https://id.example"):  # where the taker has not signed in lately
        page = hand_over_on_page(browser, shift, taker, "519372")
    assert "PinRests" in page.context["form"].errors.as_json()
    assert Till.objects.get().wrong_pins == {}  # it is no wrong PIN
    hand_over_on_page(browser, shift, taker, WRONG)
    assert not Shift.objects.filter(cashier=taker).exists()
    answer = hand_over_on_page(browser, shift, taker, "519372")

    taken = Shift.objects.get(cashier=taker)
    assert (answer["Location"], taken.opening) == (f"/shifts/{taken.pk}/", 100_000)
    assert Till.objects.get().wrong_pins == {}
    assert (who_is_at(browser), Till.objects.get().held_by) == (taker.username, taker)
    assert browser.get("/").context["user"].by_pin
    assert AuditEvent.objects.filter(kind="pin_sign_in").latest("pk").person == taker
    assert browser.get(f"/shifts/{taken.pk}/").status_code == 200


def test_handed_over_by_password_a_till_asks_who_is_there():
    giver, taker = with_pin("cashier"), make_person("cashier", username="taker")
    browser = till_browser()
    take_over(browser, giver)

    answer = hand_over_on_page(browser, begin(giver, cash=100_000), taker, "secret-words")

    assert (answer["Location"], who_is_at(browser)) == ("/till/", "")


def test_once_the_clock_was_set_back_a_shift_still_begins_with_the_last_count(time_machine):
    noon = timezone.localtime().replace(hour=12, minute=0)  # both times are of one day
    time_machine.move_to(noon + dt.timedelta(hours=1))
    first = begin(cash=100_000)
    first = close_shift(first, pieces=pieces_of(100_000), actor=first.cashier)
    time_machine.move_to(noon)
    second = begin(make_person("supervisor"), drawer=first.drawer, cash=100_000)

    with refused("count_used"):
        correct_count(first, pieces=pieces_of(50_000), actor=first.cashier, reason="typed wrongly")
    second = close_shift(second, pieces=pieces_of(80_000), actor=second.cashier, reason="I do not know")
    with pytest.raises(OpeningUnexplained) as refusal:
        open_shift(first.drawer, pieces=pieces_of(100_000), actor=first.cashier)
    third = open_shift(first.drawer, pieces=pieces_of(80_000), actor=first.cashier)
    taken = hand_over(third, to=second.cashier, pieces=pieces_of(80_000), actor=third.cashier)

    assert refusal.value.difference == 20_000
    assert [shift.left_before for shift in (second, third, taken)] == [100_000, 80_000, 80_000]
    assert cash_of_day(day_lines(DrawerDay.objects.get()))["counted"] == 80_000
