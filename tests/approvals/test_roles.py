"""Giving a person more rights takes a second person, if there is one; taking rights away never does."""

import pytest

from approvals.models import Approval
from audit.models import AuditEvent
from core.rights import Role
from staff.models import User
from staff.services import change_role
from testing.people import browser_of, code_of, make_person
from tests.approvals.helpers import approve, approve_on_page, approver, ask_role, role_now

pytestmark = pytest.mark.django_db


def test_given_an_approval_then_the_role_is_given_and_audited(owners):
    sari = make_person("cashier")

    approval = ask_role(sari, Role.SUPERVISOR, owners[0])
    assert role_now(sari) == Role.CASHIER
    assert (approval.facts["before"], approval.facts["after"]) == ("cashier", "supervisor")
    assert "purchases.resolve_order" in approval.facts["gains"]

    approve(approval, owners[1])

    assert role_now(sari) == Role.SUPERVISOR
    event = AuditEvent.objects.get(kind="role_changed")
    assert (event.person, event.facts) == (owners[0], {"approved_by": owners[1].pk, "alone": False})
    assert (event.before, event.after) == ({"role": "cashier"}, {"role": "supervisor"})


def test_given_fewer_or_the_same_rights_or_a_command_then_it_holds_at_once(owners):
    person = make_person("cashier")

    for role, actor in ((Role.CASHIER, owners[0]), (Role.VIEWER, owners[0]), (Role.ADMINISTRATOR, None)):
        change_role(person, role, actor=actor)

        assert role_now(person) == role


def test_given_one_owner_then_it_holds_at_once_and_is_audited(db):
    owner, sari = approver("only"), make_person("cashier")
    make_person("supervisor")  # holds the right, but stands below the new role
    make_person("admin", username="gone", is_active=False)

    change_role(sari, Role.ADMINISTRATOR, actor=owner)

    assert role_now(sari) == Role.ADMINISTRATOR
    assert AuditEvent.objects.get(kind="role_changed").facts == {"approved_by": None, "alone": True}


def test_given_a_lower_or_the_own_role_then_nobody_approves_an_owner(owners):
    sari, candidate = make_person("cashier", username="sari"), make_person("administrator", username="ani")
    approval, own = (ask_role(person, Role.OWNER, owners[0]) for person in (sari, candidate))

    lower = [make_person(role, username=f"other-{role}") for role in ("cashier", "supervisor", "administrator")]
    for request, person in [*((approval, person) for person in lower), (own, candidate)]:
        with pytest.raises(Exception, match="may not"):
            approve(request, person)
    assert [role_now(person) for person in (sari, candidate)] == [Role.CASHIER, Role.ADMINISTRATOR]


def test_given_another_role_meanwhile_then_it_is_void(owners):
    sari = make_person("cashier")
    approval = ask_role(sari, Role.SUPERVISOR, owners[0])
    change_role(sari, Role.VIEWER, actor=owners[1])

    decided = approve(approval, owners[1])

    assert (decided.state, decided.changes["before"]) == ("void", ["cashier", "viewer"])
    assert role_now(sari) == Role.VIEWER


def test_given_the_page_then_it_asks_and_the_second_owner_approves(owners):
    sari, first = make_person("cashier"), browser_of("admin", username="third")
    third = User.objects.get(username="third")

    answer = first.post(f"/staff/{sari.pk}/role/", {"role": "supervisor", "factor_code": code_of(third)})

    approval = Approval.objects.get()
    assert answer.url == approval.get_absolute_url()
    assert role_now(sari) == Role.CASHIER
    approve_on_page(first, approval)
    assert role_now(sari) == Role.CASHIER
    second = browser_of("admin", username="fourth")
    approve_on_page(second, approval)
    assert role_now(sari) == Role.SUPERVISOR
