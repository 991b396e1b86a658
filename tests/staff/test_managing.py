"""The rules about other people's accounts, by the services themselves."""

from functools import partial

import pytest
from django.test import Client

from audit.models import AuditEvent
from core.rights import Role
from staff.models import User
from staff.roles import role_of
from staff.services import (
    accept_link,
    change_role,
    deactivate,
    make_link,
    reactivate,
    withdraw_link,
)
from staff.services.independence import Hands
from testing.orders import at_once
from testing.people import give_factor, make_person
from tests.core.helpers import codes
from tests.staff.helpers import GOOD, STEPS, administrator, groups, invited, owner, refused, signed_in

pytestmark = pytest.mark.django_db


def test_an_administrator_invites_below_the_own_role_alone_and_an_owner_makes_owners():
    boss, person = administrator(), make_person("cashier")

    for role in (Role.CASHIER, Role.AUDITOR):
        made, _token = invited(role, actor=boss, username=f"new-{role}")
        assert role_of(made) is role
        assert groups(made) == {role.value}
    for role in (Role.ADMINISTRATOR, Role.OWNER):
        assert refused(partial(invited, role, actor=boss)) == "role_above_own", role
        assert refused(partial(change_role, person, role, actor=boss)) == "role_above_own", role
    assert not User.objects.filter(username="sari").exists()

    change_role(person, Role.OWNER, actor=owner())
    person.refresh_from_db()
    assert person.is_superuser
    assert groups(person) == set()


def test_no_administrator_touches_the_account_of_an_owner_or_administrator():
    boss = administrator()
    for target in (owner(), administrator("second")):
        before = target.password, target.is_superuser

        assert {name: refused(partial(step, target, boss)) for name, step in STEPS.items()} == dict.fromkeys(
            STEPS, "above_own"
        )

        target.refresh_from_db()
        assert (target.is_active, target.password, target.is_superuser) == (True, *before)
        assert not target.links.exists()


def test_without_the_right_no_step_is_taken():
    person = make_person("", username="target")

    for role in ("cashier", "auditor", ""):
        actor = make_person(role, username=f"actor-{role}")
        assert {refused(partial(step, person, actor)) for step in STEPS.values()} == {"no_right"}
        assert refused(partial(invited, actor=actor)) == "no_right"


def test_nobody_does_it_to_the_own_account_or_when_switched_off_meanwhile():
    boss, person = administrator(), make_person("cashier")

    assert {refused(partial(step, boss, boss)) for name, step in STEPS.items() if name != "sign out"} == {"own_account"}
    User.objects.filter(pk=boss.pk).update(is_active=False)  # `boss` still says active
    assert refused(lambda: deactivate(person, actor=boss)) == "no_right"


def test_the_last_active_owner_stays():
    last = owner()
    owner("gone").delete()
    invited(Role.OWNER, username="not-joined")

    for step in ("role", "deactivate"):
        assert refused(partial(STEPS[step], last, None)) == "last_owner", step

        another = owner(f"after {step}")
        STEPS[step](last, None)
        last.refresh_from_db()
        assert not (last.is_active and last.is_superuser), step
        last = another


@pytest.mark.django_db(transaction=True)
def test_of_two_owners_who_switch_each_other_off_one_stays():
    first, second = owner("one"), owner("two")

    results = at_once(lambda: deactivate(first, actor=second), lambda: deactivate(second, actor=first))

    assert [getattr(result, "reason", None) for result in results].count("no_right") == 1
    assert User.objects.filter(is_superuser=True, is_active=True).count() == 1


def test_switched_off_a_person_is_out_at_the_next_request_everywhere():
    person = make_person("cashier")
    browsers = [signed_in(person) for _ in range(2)]
    other = signed_in(make_person("auditor"))

    deactivate(person, actor=None)

    assert [browser.get("/orders/").status_code for browser in browsers] == [302, 302]
    assert other.get("/orders/").status_code == 200
    assert not Client().login(username="cashier", password="secret-words")

    reactivate(person, actor=None)
    assert [browser.get("/orders/").status_code for browser in browsers] == [302, 302]
    assert Client().login(username="cashier", password="secret-words")


def test_another_role_holds_from_the_next_request_on():
    person = make_person("cashier")
    give_factor(person)  # the second factor that the new role needs
    browser = signed_in(person)

    change_role(person, Role.AUDITOR, actor=owner())

    assert browser.get("/callbacks/").status_code == 200
    assert browser.get("/customers/add/").status_code == 403


def test_the_role_that_a_person_has_is_no_change():
    boss, person = owner(), make_person("cashier")

    page = signed_in(boss).confirm(f"/staff/{person.pk}/role/", {"role": "cashier"}, follow=True)

    assert codes(page) == {"role_unchanged"}
    assert not AuditEvent.objects.filter(kind="role_changed").exists()
    assert not Hands.read().between(boss, person), "the boss still approves what this person asks for"


def test_each_step_writes_who_did_what_with_whom(caplog):
    boss = owner()
    caplog.set_level("INFO")
    person, _token = invited(Role.VIEWER, actor=boss)
    withdraw_link(person, actor=boss)
    accept_link(make_link(person, actor=boss), GOOD)
    for step in ("role", "sign out", "deactivate", "reactivate"):
        STEPS[step](person, boss)

    lines = [record.msg for record in caplog.records if isinstance(record.msg, dict)]

    assert [(line["event"], line.get("by")) for line in lines] == [
        ("staff_invited", boss.pk),
        ("staff_link_withdrawn", boss.pk),
        ("staff_link_made", boss.pk),
        ("staff_link_used", None),
        ("staff_role_changed", boss.pk),
        ("staff_sessions_ended", boss.pk),
        ("staff_deactivated", boss.pk),
        ("staff_reactivated", boss.pk),
    ]
    assert {line["person"] for line in lines} == {person.pk}
