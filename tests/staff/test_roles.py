"""The roles, and the demo staff of the sandbox."""

import pytest
from django.contrib.auth.models import Group, Permission
from django.test import override_settings

from staff.models import User
from staff.roles import ROLES, create_demo_staff, set_up_roles

pytestmark = pytest.mark.django_db


def test_set_up_again_each_group_has_exactly_its_permissions():
    set_up_roles()
    Group.objects.get(name="auditor").permissions.add(Permission.objects.get(codename="buy"))

    set_up_roles()

    for name, wanted in ROLES.items():
        held = Group.objects.get(name=name).permissions.values_list("content_type__app_label", "codename")
        assert {f"{app}.{codename}" for app, codename in held} == set(wanted)


@override_settings(SANDBOX=True)
def test_with_the_sandbox_the_demo_people_can_sign_in():
    set_up_roles()
    create_demo_staff()

    people = {user.username: user for user in User.objects.filter(is_demo=True)}
    assert set(people) == {"cashier", "admin", "owner", "auditor"}
    assert all(user.check_password(f"{name}-demo") for name, user in people.items())
    assert people["cashier"].has_perm("purchases.buy")
    assert not people["auditor"].has_perm("purchases.buy")
    assert people["admin"].is_superuser


@override_settings(SANDBOX=True)
def test_a_demo_password_that_was_changed_stays_changed():
    set_up_roles()
    create_demo_staff()
    user = User.objects.get(username="cashier")
    user.set_password("mine now")
    user.save()

    create_demo_staff()

    assert User.objects.get(username="cashier").check_password("mine now")


def test_with_a_real_upstream_no_demo_person_can_sign_in():
    with override_settings(SANDBOX=True):
        set_up_roles()
        create_demo_staff()
    real = User.objects.create_user("sari", password="x")

    with override_settings(SANDBOX=False):
        create_demo_staff()

    assert not User.objects.filter(is_demo=True, is_active=True).exists()
    real.refresh_from_db()
    assert real.is_active


@override_settings(SANDBOX=True)
def test_a_real_person_with_a_demo_name_is_left_alone():
    set_up_roles()
    User.objects.create_user("admin", password="the shop's own")

    create_demo_staff()

    user = User.objects.get(username="admin")
    assert not user.is_superuser
    assert user.check_password("the shop's own")
