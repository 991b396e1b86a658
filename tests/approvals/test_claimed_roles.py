"""A role from a provider's claim: rights of two people take a second person here, once, for this person and role."""

import pytest
from django.test import Client

from alerts.models import Alert
from alerts.services import evaluate_alerts
from approvals.models import Approval
from approvals.services import changes_seen
from audit.models import AuditEvent
from core.rights import Role
from staff.events import ROLE_CHANGED
from staff.models import BREAK_GLASS, User
from staff.roles import give_role, role_of
from staff.services import deactivate
from testing.people import give_factor, make_person
from tests.approvals.helpers import approve, approver, ask_discount
from tests.staff.oidc_provider import ROLES, OidcProvider, come_back, refusal, signed_in

pytestmark = pytest.mark.django_db

MAY = "purchases.decide_order"


@pytest.fixture
def owner(db) -> User:
    return approver("owner")


def role_now(person: User | None) -> Role | None:
    assert person is not None
    return role_of(User.objects.get(pk=person.pk))


def came(provider: OidcProvider, *groups: str) -> User:
    person = signed_in(provider, Client(), groups=list(groups))
    assert person is not None
    return person


# --- with somebody who could approve -----------------------------------------------------------------------------


@pytest.mark.parametrize(("claim", "until_then"), [("spv", "cashier"), ("kepala", "auditor"), ("pemilik", "auditor")])
def test_a_strong_claim_gives_the_highest_weak_role_below(provider, owner, claim, until_then):
    person = came(provider, claim)

    assert role_now(person) == until_then
    assert not User.objects.get(pk=person.pk).has_perm(MAY)
    approval = Approval.objects.get()
    assert (approval.act, approval.asked_by, approval.state) == ("outside_role", person, "asked")
    assert (approval.facts["before"], approval.facts["after"]) == (until_then, ROLES[claim])


def test_the_person_reads_that_it_waits(provider, owner):
    browser = Client()
    provider.claims |= {"groups": ["spv"]}
    come_back(provider, browser)

    assert "role_waits" in {message.extra_tags for message in browser.get("/").context["messages"]}


def test_the_staff_pages_show_the_role_that_waits(provider, owner):
    person, browser = came(provider, "spv"), Client()
    browser.force_login(owner)
    page, listed = (browser.get(f"/staff/{key}").content.decode() for key in (f"{person.pk}/", ""))
    assert 'id="role-waits" data-role="supervisor"' in page
    assert listed.count("data-waits=") == 1

    approve(Approval.objects.get(), owner)

    assert 'id="role-waits"' not in browser.get(f"/staff/{person.pk}/").content.decode()
    assert "data-waits=" not in browser.get("/staff/").content.decode()


@pytest.mark.parametrize("claim", ["kasir", "audit"])
def test_a_weak_claim_holds_at_once(provider, owner, claim):
    assert role_now(came(provider, claim)) == ROLES[claim]
    assert not Approval.objects.exists()


def test_a_second_person_approves_the_claim_once(provider, owner):
    came(provider, "kepala")
    person = came(provider, "kepala")  # signed in again

    approve(Approval.objects.get(), owner)

    assert role_now(person) is Role.ADMINISTRATOR
    event = AuditEvent.objects.get(kind=ROLE_CHANGED.key)
    assert (event.person, event.subject, event.after) == (owner, "sari", {"role": "administrator"})
    assert event.facts == {"by": "oidc", "approved_by": owner.pk, "alone": False}

    give_factor(person)
    signed_in(provider, Client(), groups=["kepala"])
    assert role_now(person) is Role.ADMINISTRATOR
    assert Approval.objects.count() == 1


def test_a_higher_claim_takes_another_approval(provider, owner):
    person = came(provider, "spv")
    approve(Approval.objects.get(), owner)

    signed_in(provider, Client(), groups=["kepala"])

    assert role_now(person) is Role.SUPERVISOR
    assert Approval.objects.get(state="asked").facts["after"] == "administrator"


def test_a_lower_claim_ends_what_was_approved(provider, owner):
    person = came(provider, "kepala")
    approve(Approval.objects.get(), owner)
    signed_in(provider, Client(), groups=["kasir"])
    assert role_now(person) is Role.CASHIER

    signed_in(provider, Client(), groups=["kepala"])

    assert role_now(person) is Role.CASHIER
    assert Approval.objects.filter(state="asked").count() == 1


@pytest.mark.parametrize("groups", [["kasir"], ["pemilik"], []])
def test_another_claim_meanwhile_makes_it_void(provider, owner, groups):
    person = came(provider, "kepala")
    approval = Approval.objects.get()
    signed_in(provider, Client(), groups=groups)
    before = role_now(person)

    assert changes_seen([approval])[approval.pk]["code"] == "NotAllowed:other_claim"
    assert approve(approval, owner).state == "void"
    assert role_now(person) == before


@pytest.mark.parametrize("how", ["off", "no provider"])
def test_who_left_meanwhile_gets_nothing(provider, owner, how, settings):
    person = came(provider, "kepala")
    if how == "off":
        deactivate(person, actor=None)
    else:
        User.objects.filter(pk=person.pk).update(is_oidc=False)

    assert approve(Approval.objects.get(), owner).state == "void"
    assert role_now(person) is Role.AUDITOR


def test_who_has_less_than_the_role_does_not_approve_it(provider, owner):
    came(provider, "pemilik")

    with pytest.raises(Exception, match="may not"):
        approve(Approval.objects.get(), make_person("administrator"))


def test_nobody_approves_the_own_claim(provider, owner):
    person = came(provider, "kepala")
    give_role(person, Role.OWNER)  # as if there were another way to this role

    with pytest.raises(Exception, match="second person"):
        approve(Approval.objects.get(), User.objects.get(pk=person.pk))


def test_who_approved_a_claim_is_no_second_person_beside_it(provider, owner, discount):
    """Else a person with an account here and an account at the provider would count as two people."""
    approver("second")
    person = came(provider, "kepala")
    approve(Approval.objects.get(), owner)

    with pytest.raises(Exception, match="30 days"):
        approve(ask_discount(User.objects.get(pk=person.pk)), owner)
    approve(ask_discount(User.objects.get(pk=person.pk), subject="B"), User.objects.get(username="second"))


# --- without -----------------------------------------------------------------------------------------------------


def test_where_nobody_could_approve_it_is_given_and_seen(provider):
    make_person("cashier", username="ani")
    make_person("admin", username=BREAK_GLASS)

    person = came(provider, "pemilik")

    assert role_now(person) is Role.OWNER
    assert AuditEvent.objects.get(facts__alone=True).person == person
    evaluate_alerts()
    assert Alert.objects.get(kind="acted_alone").facts["name"] == "Bu Sari"


def test_a_raise_of_a_known_person_alone_is_seen_too(provider):
    person = came(provider, "kasir")
    assert not AuditEvent.objects.filter(facts__alone=True).exists()

    signed_in(provider, Client(), groups=["kepala"])

    assert role_now(person) is Role.ADMINISTRATOR
    assert AuditEvent.objects.get(facts__alone=True).kind == ROLE_CHANGED.key


def test_of_two_owners_of_the_provider_the_second_is_approved(provider):
    first = came(provider, "pemilik")
    give_factor(first)

    second = signed_in(provider, Client(), sub="s-2", preferred_username="budi", groups=["pemilik"])

    assert role_now(second) is Role.AUDITOR
    approve(Approval.objects.get(), User.objects.get(pk=first.pk))
    assert role_now(second) is Role.OWNER


def test_a_refused_sign_in_asks_for_nothing(provider, owner):
    person = came(provider, "kasir")
    deactivate(person, actor=None)

    assert refusal(provider, groups=["kepala"]) == "off"
    assert not Approval.objects.exists()
