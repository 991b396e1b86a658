"""A person who got rights without an event is named; people who got them by our services are not."""

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction

from audit.services import verify
from audit.services.rules import rule_flaws
from core.rights import Role
from customers.models import Customer, SavedNumber
from staff.models import User
from staff.rights import begin_events, grant
from staff.roles import DEMO_STAFF, create_demo_staff
from staff.services import Limits, change_role, change_role_rights, deactivate, invite, reactivate
from staff.services.break_glass import make_break_glass
from staff.services.links import accept_link
from staff.services.outside import person_of
from testing.database import tamper
from testing.people import signed_in
from tests.audit.helpers import flaws_found, hired, seal_all

pytestmark = pytest.mark.django_db(transaction=True)


def run(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


_WRITTEN = ", ".join(field.column for field in User._meta.concrete_fields if not field.generated)
_ANOTHER = f"""
    INSERT INTO staff_user ({_WRITTEN}) SELECT {_WRITTEN} FROM jsonb_populate_record(NULL::staff_user,
        (SELECT to_jsonb(old) || '{{"id": 999, "username": "another", "is_superuser": true}}' FROM staff_user old))
"""
_MEMBER = """
    INSERT INTO staff_user_groups (user_id, group_id)
    SELECT max(staff_user.id), max(auth_group.id) FROM staff_user, auth_group WHERE name = 'administrator'
"""
_RIGHT = "INSERT INTO staff_user_user_permissions (user_id, permission_id) SELECT max(id), 1 FROM staff_user"
BY_HAND = {
    "an owner": ("UPDATE staff_user SET is_superuser = true", "staff_user", "owner_without_event"),
    "a new owner": (_ANOTHER, "staff_user", "owner_without_event"),
    "a role": (_MEMBER, "staff_user_groups", "role_without_event"),
    "an own right": (_RIGHT, "staff_user_user_permissions", "right_without_event"),
    "more to spend": ("UPDATE staff_user SET own_per_order = 1", "staff_user", "limits_without_event"),
    "every branch": ("UPDATE staff_user SET bound_since = now()", "staff_user", "binding_without_event"),
    "a password": ("UPDATE staff_user SET password = 'pbkdf2_sha256$1$x$y'", "staff_user", "hash_by_hand"),
    "more for a role": (
        "INSERT INTO staff_rolelimits VALUES ('cashier', 1)", "staff_rolelimits", "limits_without_event"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_HAND)
def test_right_taken_without_an_event_is_named(new_shop, name):
    statement, table, rule = BY_HAND[name]
    run(statement)
    seal_all()
    for options in ({}, {"recent": 1}):
        (flaw,) = verify(**options).flaws
        assert (flaw.reason, flaw.table, flaw.detail) == ("rule_broken", table, rule)
        assert flaw.id


def test_a_password_put_past_the_triggers_is_named(new_shop):
    tamper("UPDATE staff_user SET password = 'pbkdf2_sha256$1$x$y'")

    (flaw,) = verify().flaws
    assert (flaw.reason, flaw.table, flaw.detail) == ("live_changed", "staff_user", "password_mark")


def test_a_password_changed_on_a_page_is_no_flaw():
    browser = signed_in(hired("cashier"))
    typed = {"oldpassword": "secret-words", "password1": "fourteen-goats-sing", "password2": "fourteen-goats-sing"}

    assert browser.post("/accounts/password/change/", typed).status_code == 302

    seal_all()
    assert verify().is_sound


@pytest.mark.usefixtures("roles_again")
def test_role_that_may_more_without_an_event_is_named():
    begin_events(apps)
    grant(apps, "viewer", "customers.view_customer")
    change_role_rights(Role.VIEWER, {"catalogue.view_product", "bills.check_bill"}, Limits(), actor=None)
    seal_all()
    assert [str(flaw) for flaw in verify().flaws] == []

    run("INSERT INTO auth_group_permissions (group_id, permission_id) SELECT auth_group.id, auth_permission.id"
        " FROM auth_group, auth_permission WHERE auth_group.name = 'viewer' AND codename = 'manage_staff'")  # fmt: skip
    run("UPDATE auth_group SET name = 'director' WHERE name = 'auditor'")
    seal_all()

    assert {(flaw.table, flaw.detail) for flaw in verify().flaws} == {
        ("auth_group_permissions", "right_of_role_without_event"), ("auth_group", "role_renamed")
    }  # fmt: skip


def test_account_switched_on_without_an_event_is_named():
    deactivate(hired("cashier"), actor=None)
    seal_all()
    assert verify().is_sound
    run("UPDATE staff_user SET is_active = true")
    assert flaws_found() == [("rule_broken", "staff_user")]


def test_our_own_ways_to_more_rights_have_an_event(settings):
    settings.SANDBOX = True
    create_demo_staff()
    create_demo_staff()
    settings.SANDBOX = False
    create_demo_staff()
    settings.SANDBOX = True
    create_demo_staff()
    make_break_glass()
    make_break_glass()
    person, _token = invite(username="ani", role=Role.OWNER, actor=None)
    change_role(person, Role.CASHIER, actor=None)
    change_role(person, Role.OWNER, actor=None)
    _budi, token = invite(username="budi", role=Role.CASHIER, actor=None)
    budi = accept_link(token, "secret-words")
    deactivate(budi, actor=None)
    reactivate(budi, actor=None)
    call_command("createsuperuser", "--noinput", "--username", "root", "--email", "")
    seal_all()
    assert User.objects.count() == len(DEMO_STAFF) + 4
    assert [str(flaw) for flaw in verify().flaws] == []


def test_copy_without_a_change_is_refused():
    hired("cashier")
    with pytest.raises(DatabaseError), transaction.atomic():
        run(
            "INSERT INTO staff_userhistory SELECT (jsonb_populate_record(NULL::staff_userhistory, to_jsonb(old)"
            " || '{\"pgh_id\": 999999}')).* FROM staff_userhistory old"
        )


def test_customer_and_number_are_copied_and_sealed():
    customer = Customer.objects.create(name="Bu Sari")
    number = SavedNumber.objects.create(customer=customer, destination="081234567890", kind="phone")
    SavedNumber.objects.filter(pk=number.pk).update(destination="081234567891")
    seal_all()
    assert verify().is_sound
    tamper("UPDATE customers_savednumber SET destination = '089999999999'")
    tamper("UPDATE customers_customerhistory SET name = 'Bu Ani'")
    assert flaws_found() == [("changed", "customers_customerhistory"), ("live_changed", "customers_customer"),
                       ("live_changed", "customers_savednumber")]  # fmt: skip


def test_forgotten_customer_is_no_flaw():
    customer = Customer.objects.create(name="Bu Sari")
    SavedNumber.objects.create(customer=customer, destination="081234567890", kind="phone")
    customer.delete()
    seal_all()
    assert verify().is_sound


def test_role_by_a_claim_has_its_event(settings):
    settings.OIDC_ISSUER, settings.OIDC_CLAIM = "https://id.example", "groups"
    settings.OIDC_ROLES = {"kasir": "cashier", "pemilik": "owner"}
    for group in ("kasir", "pemilik"):
        person = person_of({"sub": "s-1", "preferred_username": "sari", "groups": [group]})
    assert User.objects.get(pk=person.pk).is_superuser
    assert rule_flaws() == []
