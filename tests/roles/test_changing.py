"""Owners change what roles may do and spend; nobody gives more than they have."""

import re
from functools import partial

import pytest
from django.contrib.auth.models import Permission
from django.db import transaction

from audit.models import AuditEvent
from core.rights import Role
from staff.models import RoleLimits, User
from staff.roles import ROLES, rights_by_role
from staff.services import Limits, change_limits, change_role_rights, limits_of, limits_of_roles
from testing.orders import Meanwhile
from testing.people import browser_of, make_person, signed_in
from tests.core.helpers import codes, has_id, hidden
from tests.staff.helpers import refused

pytestmark = pytest.mark.django_db

LIMITS = Limits(per_order=50_000, per_day=500_000, approval_above=20_000)


def stored(person: User) -> User:
    return User.objects.get(pk=person.pk)


def checked(page) -> set[str]:
    """The rights that the page shows as held."""
    return set(re.findall(r'name="rights" value="([\w.]+)"[^>]* checked', page.content.decode()))


def test_an_owner_changes_rights_and_limits_of_a_role():
    boss, cashier = make_person("admin"), make_person("cashier")
    held = sorted(rights_by_role()[Role.CASHIER])
    change_role_rights(Role.CASHIER, held, Limits(), actor=boss)
    assert not AuditEvent.objects.exists(), "the same again is no change"

    change_role_rights(Role.CASHIER, {"purchases.buy"}, LIMITS, actor=boss)

    assert rights_by_role()[Role.CASHIER] == {"purchases.buy"}
    assert stored(cashier).get_all_permissions() == {"purchases.buy"}
    assert limits_of(stored(cashier)) == LIMITS
    assert rights_by_role()[Role.VIEWER] == set(ROLES[Role.VIEWER])
    event = AuditEvent.objects.get()
    assert (event.kind, event.person_id, event.subject) == ("role_edited", boss.pk, "cashier")
    assert (event.before["rights"], event.after["rights"]) == (held, ["purchases.buy"])
    assert (event.before["limits"]["per_day"], event.after["limits"]["per_day"]) == (None, 500_000)

    with pytest.raises(ValueError, match="no such rights"):
        change_role_rights(Role.VIEWER, {"staff.change_roles"}, Limits(), actor=boss)
    change_role_rights(Role.OWNER, (), Limits(per_order=1), actor=boss)
    assert limits_of(stored(boss)) == Limits(per_order=1)
    assert stored(boss).has_perm("ledger.adjust_balance"), "of the owners only the limits change"


def test_given_a_roles_page_from_before_then_a_colleagues_change_stays():
    held = {"purchases.buy", "purchases.view_order", "catalogue.view_product"}
    first, second = make_person("admin", username="first"), make_person("admin", username="second")
    change_role_rights(Role.VIEWER, held, Limits(per_order=50_000), actor=None)
    browser, address = signed_in(first), "/staff/roles/viewer/"
    page = browser.get(address)
    shown = {"rights": checked(page), "per_order": "50.000", "per_day": "", "approval_above": "", **hidden(page)}
    change_role_rights(Role.VIEWER, held - {"purchases.buy"}, Limits(per_order=20_000), actor=second)

    browser.confirm(address, shown | {"rights": held - {"catalogue.view_product"}, "per_day": "90.000"})

    assert rights_by_role()[Role.VIEWER] == {"purchases.view_order"}
    assert limits_of_roles()[Role.VIEWER] == Limits(per_order=20_000, per_day=90_000)


def test_given_a_refused_page_of_a_role_then_its_rights_count_as_it_showed_them_first():
    browser, address = signed_in(make_person("admin")), "/staff/roles/viewer/"
    change_role_rights(Role.VIEWER, {"purchases.buy"}, Limits(), actor=None)
    shown = {"per_order": "", "per_day": "", "approval_above": "", **hidden(browser.get(address))}

    again = browser.post(address, shown | {"rights": []})
    browser.confirm(address, shown | hidden(again) | {"rights": checked(again)})

    assert rights_by_role()[Role.VIEWER] == set()


def test_given_a_persons_page_from_before_then_a_colleagues_limit_stays():
    person, boss = make_person("cashier", own_per_order=50_000), make_person("admin")
    browser, page = signed_in(boss), f"/staff/{person.pk}/"
    shown = {"per_order": "50.000", "per_day": "", "approval_above": "", **hidden(browser.get(page))}
    change_limits(stored(person), Limits(per_order=20_000), actor=None)

    browser.confirm(f"{page}limits/", shown | {"per_day": "90.000"})

    assert limits_of(stored(person)) == Limits(per_order=20_000, per_day=90_000)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("roles_again")
def test_given_a_colleagues_change_of_a_role_at_the_same_moment_then_both_stay():
    held, boss = {"purchases.buy", "purchases.view_order", "catalogue.view_product"}, make_person("admin")
    change_role_rights(Role.VIEWER, held, Limits(per_order=50_000), actor=None)
    browser, address = signed_in(boss), "/staff/roles/viewer/"
    shown = {"per_order": "50.000", "per_day": "90.000", "approval_above": "", **hidden(browser.get(address))}

    with transaction.atomic():
        change_role_rights(Role.VIEWER, held - {"purchases.buy"}, Limits(per_order=20_000), actor=None)
        saving = Meanwhile(lambda: browser.confirm(address, shown | {"rights": held - {"catalogue.view_product"}}))
        assert saving.is_blocked_by_us()
    saving.end()

    assert rights_by_role()[Role.VIEWER] == {"purchases.view_order"}
    assert limits_of_roles()[Role.VIEWER] == Limits(per_order=20_000, per_day=90_000)


@pytest.mark.django_db(transaction=True)
def test_given_a_colleagues_change_of_limits_at_the_same_moment_then_both_stay():
    person, boss = make_person("cashier", own_per_order=50_000), make_person("admin")
    browser, page = signed_in(boss), f"/staff/{person.pk}/"
    shown = {"per_order": "50.000", "per_day": "90.000", "approval_above": "", **hidden(browser.get(page))}

    with transaction.atomic():
        change_limits(person, Limits(per_order=20_000), actor=None)
        saving = Meanwhile(lambda: browser.confirm(f"{page}limits/", shown))
        assert saving.is_blocked_by_us()
    saving.end()

    assert limits_of(stored(person)) == Limits(per_order=20_000, per_day=90_000)


def test_nobody_but_owners_changes_roles_and_gives_more_than_they_hold():
    for role in Role:
        if role is Role.OWNER:
            continue
        person = make_person(role)
        assert refused(partial(change_role_rights, Role.VIEWER, set(), Limits(), actor=person)) == "no_roles", role
        browser = signed_in(person)
        for address in ("/staff/roles/", "/staff/roles/viewer/"):
            assert browser.get(address).status_code == 403, role
        assert browser.post("/staff/roles/viewer/", {"rights": []}).status_code == 403, role

    # a cashier who was let change roles
    person = User.objects.get(username="cashier")
    person.user_permissions.add(Permission.objects.get(codename="change_roles"))
    give = partial(change_role_rights, Role.VIEWER, limits=Limits(), actor=person)
    assert refused(partial(give, {"purchases.decide_order"})) == "right_above_own"
    give({"purchases.buy"})


def test_an_administrator_gives_a_cashier_limits_of_their_own():
    boss, cashier = make_person("administrator"), make_person("cashier")
    RoleLimits.objects.create(role="cashier", per_order=1_000, per_day=5_000)

    change_limits(cashier, Limits(per_order=2_000), actor=boss)

    assert limits_of(stored(cashier)) == Limits(per_order=2_000, per_day=5_000)
    event = AuditEvent.objects.get()
    assert (event.kind, event.subject, event.after["per_order"]) == ("limit_changed", "cashier", 2_000)


def test_limits_are_changed_by_who_may_and_manages_the_person():
    people = {role: make_person(role) for role in ("supervisor", "administrator", "auditor", "cashier", "admin")}
    for role, whose, reason in (
        ("supervisor", "cashier", "no_limits"),
        ("administrator", "supervisor", "above_own"),
        ("administrator", "admin", "above_own"),
        ("auditor", "cashier", "no_right"),
        ("admin", "admin", "own_account"),
    ):
        assert refused(partial(change_limits, people[whose], LIMITS, actor=people[role])) == reason, (role, whose)


@pytest.mark.parametrize("name", ["per_order", "per_day", "approval_above"])
def test_nobody_but_owners_lets_others_spend_more_than_themselves(name):
    boss, cashier = make_person("administrator", **{f"own_{name}": 1_000}), make_person("cashier")

    assert refused(lambda: change_limits(cashier, Limits(), actor=boss)) == "limit_above_own"
    assert refused(lambda: change_limits(cashier, Limits(**{name: 1_001}), actor=boss)) == "limit_above_own"
    change_limits(cashier, Limits(**{name: 1_000}), actor=boss)
    User.objects.exclude(pk=cashier.pk).update(is_active=False)
    change_limits(cashier, Limits(), actor=make_person("admin", **{f"own_{name}": 1}))


def test_on_the_page_an_owner_changes_a_role():
    boss = browser_of("admin")

    assert checked(boss.get("/staff/roles/cashier/")) == set(ROLES[Role.CASHIER])
    refused_page = boss.post("/staff/roles/cashier/", {"rights": ["purchases.buy"], "per_day": "much"})
    assert has_id(refused_page, "id_per_day_error")
    assert checked(refused_page) == {"purchases.buy"}  # the choice stays
    assert rights_by_role()[Role.CASHIER] == set(ROLES[Role.CASHIER])

    typed = {"rights": ["purchases.buy", "catalogue.view_product"], "per_order": "1.000", "per_day": "0"}
    answer = boss.confirm("/staff/roles/cashier/", typed, follow=True)
    assert codes(answer) == {"saved"}
    assert rights_by_role()[Role.CASHIER] == {"purchases.buy", "catalogue.view_product"}
    assert limits_of_roles()[Role.CASHIER] == Limits(per_order=1_000, per_day=0)
    assert "data-changed" in boss.get("/staff/roles/").content.decode()

    of_owners = boss.get("/staff/roles/owner/")
    assert has_id(of_owners, "owner-may-everything")
    assert 'name="rights"' not in of_owners.content.decode()
    assert boss.get("/staff/roles/king/").status_code == 404


def test_on_the_page_of_a_person_limits_are_changed_by_who_may():
    cashier = make_person("cashier")
    boss = browser_of("administrator")
    address = f"/staff/{cashier.pk}/"

    assert has_id(boss.get(address), "limits-form")
    boss.confirm(f"{address}limits/", {"per_order": "7.000"})
    assert limits_of(stored(cashier)).per_order == 7_000
    assert has_id(boss.post(f"{address}limits/", {"per_order": "x"}), "id_per_order_error")

    assert not has_id(browser_of("supervisor").get(address), "limits-form")
