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


def stored(person: User) -> User:
    """The person, as a service reads them."""
    return User.objects.get(pk=person.pk)


def test_the_lowest_limit_of_the_roles_holds_unless_a_person_has_an_own_one():
    person = make_person("cashier")
    assert limits_of(person) == Limits(), "without any limit any amount"

    limit("cashier", per_order=50_000, per_day=500_000, approval_above=20_000)
    limit("auditor", per_order=1)
    assert limits_of(stored(person)) == Limits(per_order=50_000, per_day=500_000, approval_above=20_000)

    limit("administrator", per_order=90_000, per_day=1_000)
    person.groups.add(Group.objects.get(name="administrator"))
    lowest = Limits(per_order=50_000, per_day=1_000, approval_above=20_000)
    assert limits_of(stored(person)) == limits_of(of_request(person)) == lowest

    User.objects.filter(pk=person.pk).update(own_per_order=0, own_per_day=900_000)
    assert limits_of(stored(person)) == Limits(per_order=0, per_day=900_000, approval_above=20_000)


def test_a_request_knows_the_same_limits_without_a_query():
    limit("cashier", per_order=50_000, per_day=500_000)
    limit("owner", per_order=70_000, approval_above=60_000)
    for role, per_order in (("", None), ("cashier", 50_000), ("admin", 70_000)):
        made = make_person(role, own_per_day=2)
        person = of_request(made)

        with statements() as sent:
            limits = limits_of(person)

        assert not sent, role
        assert limits == limits_of(made)
        assert limits.per_order == per_order
