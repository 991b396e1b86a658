"""The roles that the migrations make, and the demo staff of the sandbox."""

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission
from django.test import override_settings

from core.rights import NEEDS_TWO, OF_ROLES, Right, Role
from staff.models import User
from staff.rights import grant
from staff.roles import DEMO_STAFF, ROLES, create_demo_staff, rights_by_role, role_of, roles_given_by
from testing.people import make_person

pytestmark = pytest.mark.django_db


def change(role: Role, *rights: str) -> None:
    """Give a role exactly these rights, as a shop may change it."""
    Group.objects.get(name=role).permissions.clear()
    grant(apps, role, *rights)


def test_a_new_shop_has_every_role_with_its_rights_and_readers_ask_no_upstream():
    assert rights_by_role() == {role: set(names) for role, names in ROLES.items()}
    for role in (Role.VIEWER, Role.AUDITOR):
        assert not {right for right in OF_ROLES if right.asks_upstream} & rights_by_role()[role]


def test_every_right_is_one_permission_of_its_model():
    for right in Right:
        app_label, codename = right.split(".")
        permissions = Permission.objects.filter(content_type__app_label=app_label, codename=codename)
        assert [permission.content_type.model for permission in permissions] == [right.model]


def test_a_right_that_comes_later_leaves_what_a_shop_changed():
    change(Role.CASHIER, "purchases.buy")

    grant(apps, Role.CASHIER, "alerts.view_alert")

    assert rights_by_role()[Role.CASHIER] == {"purchases.buy", "alerts.view_alert"}


def test_a_role_gives_lower_ones_that_decide_nothing_in_pairs():
    for role, given in (
        (Role.VIEWER, []),
        (Role.CASHIER, [Role.VIEWER]),
        (Role.SUPERVISOR, [Role.VIEWER, Role.CASHIER]),
        (Role.AUDITOR, [Role.VIEWER]),
        (Role.ADMINISTRATOR, [Role.VIEWER, Role.CASHIER, Role.AUDITOR]),
        ("admin", list(Role)),
    ):
        assert roles_given_by(make_person(role)) == given, role


def test_a_changed_role_that_decides_in_pairs_is_the_owners_to_give():
    manager, owner = make_person("administrator"), make_person("admin")
    for right in sorted(NEEDS_TWO):
        change(Role.CASHIER, right)

        assert Role.CASHIER not in roles_given_by(User.objects.get(pk=manager.pk)), right
        assert Role.CASHIER in roles_given_by(User.objects.get(pk=owner.pk)), right


def test_nobody_gives_a_role_with_a_right_beyond_the_own():
    change(Role.VIEWER, "callbacks.view_callback")

    assert Role.VIEWER not in roles_given_by(make_person("supervisor"))
    assert Role.VIEWER in roles_given_by(make_person("auditor"))


@override_settings(SANDBOX=True)
def test_the_demo_people_sign_in_with_the_sandbox_alone_and_keep_what_was_changed():
    create_demo_staff()

    people = {user.username: user for user in User.objects.filter(is_demo=True)}
    assert {name: role_of(person) for name, person in people.items()} == {
        "cashier": Role.CASHIER,
        "supervisor": Role.SUPERVISOR,
        "admin": Role.ADMINISTRATOR,
        "owner": Role.OWNER,
        "auditor": Role.AUDITOR,
        "viewer": Role.VIEWER,
    }
    assert all(user.check_password(f"{name}-demo") for name, user in people.items())

    user = people["cashier"]
    user.set_password("mine now")
    user.save()
    user.groups.clear()
    create_demo_staff()
    assert User.objects.get(username="cashier").check_password("mine now")
    assert role_of(User.objects.get(username="cashier")) is None

    real = User.objects.create_user("sari", password="x")
    with override_settings(SANDBOX=False):
        create_demo_staff()
    assert not User.objects.filter(is_demo=True, is_active=True).exists()
    assert User.objects.filter(is_demo=True).count() == len(DEMO_STAFF)
    real.refresh_from_db()
    assert real.is_active


@override_settings(SANDBOX=True)
def test_a_real_person_with_a_demo_name_is_left_alone():
    User.objects.create_user("owner", password="the shop's own")

    create_demo_staff()

    user = User.objects.get(username="owner")
    assert not user.is_superuser
    assert user.check_password("the shop's own")
