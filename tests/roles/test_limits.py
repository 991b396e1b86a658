"""A person's limits, by the role and by their own."""

import pytest
from django.contrib.auth.models import Group

from staff.backends import StaffBackend
from staff.models import RoleLimits, User
from staff.services import Limits, limits_of
from testing.database import statements
from testing.people import make_person

pytestmark = pytest.mark.django_db


def limit(role: str, **limits: int) -> None:
    RoleLimits.objects.update_or_create(role=role, defaults=limits)


def of_request(person: User) -> User:
    """The person, as a request reads them from the database."""
    return StaffBackend().get_user(person.pk)


def test_without_any_limit_a_person_may_spend_any_amount():
    assert limits_of(make_person("cashier")) == Limits()


def test_a_person_has_the_limits_of_the_role():
    limit("cashier", per_order=50_000, per_day=500_000, approval_above=20_000)
    limit("auditor", per_order=1)

    assert limits_of(make_person("cashier")) == Limits(per_order=50_000, per_day=500_000, approval_above=20_000)


def test_an_own_limit_overrides_that_of_the_role():
    limit("cashier", per_order=50_000, per_day=500_000)

    person = make_person("cashier", own_per_order=0, own_per_day=900_000)

    assert limits_of(person) == Limits(per_order=0, per_day=900_000)


def test_of_two_roles_each_lowest_limit_holds():
    limit("cashier", per_order=50_000)
    limit("administrator", per_order=90_000, per_day=1_000)
    person = make_person("cashier")
    person.groups.add(Group.objects.get(name="administrator"))

    assert limits_of(person) == limits_of(of_request(person)) == Limits(per_order=50_000, per_day=1_000)


@pytest.mark.parametrize("role", ["", "cashier", "admin"])
def test_a_request_knows_the_same_limits_without_a_query(role):
    limit("cashier", per_order=50_000, per_day=500_000)
    limit("owner", per_order=70_000, approval_above=60_000)
    made = make_person(role, own_per_day=2)
    person = of_request(made)

    with statements() as sent:
        limits = limits_of(person)

    assert not sent
    assert limits == limits_of(made)
    assert limits.per_order == {"": None, "cashier": 50_000, "admin": 70_000}[role]
