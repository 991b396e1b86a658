"""One query reads a person with their rights, with the same result as Django's own queries."""

import pytest
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Permission

from staff.backends import StaffBackend
from staff.models import User
from testing.database import statements
from testing.people import make_person

pytestmark = pytest.mark.django_db


def test_a_person_may_do_what_django_says():
    for role in ("", "cashier", "auditor", "admin"):
        made = make_person(role)
        made.user_permissions.add(Permission.objects.get(codename="read_balance"))

        person = StaffBackend().get_user(made.pk)

        expected = ModelBackend().get_all_permissions(User.objects.get(pk=made.pk))
        assert person == made
        assert "gateway.read_balance" in expected
        assert person.get_all_permissions() == expected, role


def test_a_person_and_all_permissions_are_one_query():
    made = make_person("cashier")

    with statements() as sent:
        person = StaffBackend().get_user(made.pk)
        assert person.has_perm("purchases.buy")
        assert not person.has_perm("purchases.decide_order")

    assert len(sent) == 1


def test_nobody_has_an_unknown_key_or_an_account_that_is_off():
    made = make_person("cashier", is_active=False)

    assert [StaffBackend().get_user(key) for key in (0, 999_999, made.pk)] == [None] * 3
