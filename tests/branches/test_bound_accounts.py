"""With accounts and tills, a person who is bound to a branch cannot open anything of another branch."""

import pytest
from django.test import Client

from approvals.models import Approval
from branches.models import FIRST
from core import clock
from core.rights import Role
from staff.errors import LinkRefused
from staff.models import AccessLink, User
from staff.roles import role_of
from staff.services import bind, make_link, move, read_link
from testing.people import make_person, signed_in
from tests.branches.helpers import make_branch
from tests.branches.two_branches import TwoBranches, make_two_branches
from tests.core.helpers import codes
from tests.tills.helpers import make_till, take_over, till_browser, who_is_at, with_pin
from tills.models import Till
from tills.services import make_code

pytestmark = pytest.mark.django_db


@pytest.fixture
def two() -> TwoBranches:
    return make_two_branches()


def test_an_account_that_a_bound_person_can_open_sees_no_more_than_that_person(two):
    browser = two.bound()

    facts = {"username": "puppet", "full_name": "Puppet", "role": "cashier", "branch": two.other.branch.pk}
    browser.confirm("/staff/invite/", facts)
    link = browser.confirm(f"/staff/{two.own.person.pk}/link/", follow=True)

    puppet = User.objects.get(username="puppet")
    assert puppet.bound_to == two.own.branch.pk
    assert not two.said(signed_in(puppet).get("/orders/").content.decode())
    assert codes(link) == {"NotAllowed:sees_all"}
    assert not AccessLink.objects.filter(person=two.own.person).exists()
    bind(two.own.person, is_bound=True, actor=two.owner)
    assert browser.confirm(f"/staff/{two.own.person.pk}/link/").status_code == 200

    # a till of another branch is not replaced by its name
    early = make_code(name="Zebra 9", pin_limit=None, actor=two.supervisor, branch=FIRST)
    late = make_till(name="zebra 9", branch=two.other.branch)
    refused = browser.confirm("/tills/add/", {"name": two.other.till.name.upper()})
    enrolled = Client().post("/till/enrol/", {"code": early})
    assert [fault.code for fault in refused.context["form"].errors.as_data()["__all__"]] == ["TillNameTaken"]
    assert codes(enrolled) == {"CodeRefused:expired"}
    assert not Till.objects.filter(pk__in=[two.other.till.pk, late.pk], switched_off_at__isnull=False).exists()


def test_a_link_ends_once_its_maker_does_not_see_the_person(two):
    manager = make_person("administrator", username="anna")
    token = make_link(two.own.person, actor=manager)
    assert read_link(token).person == two.own.person
    bind(manager, is_bound=True, actor=two.owner)
    with pytest.raises(LinkRefused):
        read_link(token)

    person = make_person("cashier", username="budi", branch=two.own.branch, bound_since=clock.now())
    make_link(person, actor=two.supervisor)
    move(person, branch=two.other.branch.pk, actor=two.owner)
    assert AccessLink.objects.get(person=person).withdrawn_at


def test_given_a_request_in_another_branch_then_the_same_again_leads_to_no_fault(two):
    # given: it was asked for before the person came to this branch
    viewer = make_person("viewer", username="new", branch=two.other.branch)
    rosa = make_person("supervisor", username="rosa", branch=two.other.branch)
    signed_in(rosa).confirm(f"/staff/{viewer.pk}/role/", {"role": "cashier"})
    assert Approval.objects.get(act="role").branch == two.other.branch
    move(viewer, branch=two.own.branch.pk, actor=two.owner)

    typed = {"role": "cashier"}
    answer = two.bound().confirm(f"/staff/{viewer.pk}/role/", typed, follow=True, headers={"accept": "text/html"})

    assert (answer.status_code, codes(answer)) == (200, {"AlreadyAsked"})


def test_a_colleague_who_is_bound_to_another_branch_is_not_offered_as_the_second_person(two):
    far = {"username": "zebra-9", "first_name": "Zebra", "branch": two.other.branch, "bound_since": clock.now()}
    for facts in (far, {"username": "rosa", "first_name": "Rosa", "branch": two.other.branch}):
        make_person("supervisor", **facts)

    page = signed_in(two.own.person).get(f"/counter/approvals/{two.own.approval.pk}/approve/").content.decode()

    assert "Rosa" in page
    assert not two.said(page)


def test_an_owner_needs_a_colleague_who_can_see_the_branch_alone(two):
    User.objects.exclude(pk__in=[two.owner.pk, two.own.person.pk, two.supervisor.pk]).update(is_active=False)
    browser, second = signed_in(two.owner), make_person("cashier", username="ani", branch=two.own.branch)

    browser.confirm(f"/staff/{two.own.person.pk}/role/", {"role": "supervisor"})
    assert role_of(User.objects.get(pk=two.own.person.pk)) == Role.CASHIER
    assert Approval.objects.filter(act="role").exists()

    # given: the only other person who may raise a role is bound to another branch
    User.objects.filter(pk=two.supervisor.pk).update(is_active=False)
    make_person("supervisor", username="far", branch=two.other.branch, bound_since=clock.now())
    browser.confirm(f"/staff/{second.pk}/role/", {"role": "supervisor"})
    assert role_of(User.objects.get(pk=second.pk)) == Role.SUPERVISOR
    assert Approval.objects.filter(act="role").count() == 1


def test_a_pin_session_ends_once_its_person_is_bound_to_another_branch_than_the_tills():
    person, browser = with_pin("cashier", branch=make_branch()), till_browser()
    take_over(browser, person)
    assert who_is_at(browser) == person.username

    bind(person, is_bound=True, actor=make_person("admin", username="owner"))

    assert who_is_at(browser) == ""
