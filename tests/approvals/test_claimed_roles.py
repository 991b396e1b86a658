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


def came(provider: OidcProvider, *groups: str, name: str = "sari") -> User:
    of_person = {} if name == "sari" else {"sub": name, "preferred_username": name}
    person = signed_in(provider, Client(), groups=list(groups), **of_person)
    assert person is not None
    return person


# --- with somebody who could approve -----------------------------------------------------------------------------


def test_a_strong_claim_gives_the_highest_weak_role_below_and_a_weak_one_holds(provider, owner):
    for claim in ("kasir", "audit"):
        assert role_now(came(provider, claim, name=claim)) == ROLES[claim]
    assert not Approval.objects.exists()

    for claim, until_then in (("spv", "cashier"), ("kepala", "auditor"), ("pemilik", "auditor")):
        person = came(provider, claim, name=claim)

        assert role_now(person) == until_then, claim
        assert not User.objects.get(pk=person.pk).has_perm(MAY)
        approval = Approval.objects.latest("pk")
        assert (approval.act, approval.asked_by, approval.state) == ("outside_role", person, "asked")
        assert (approval.facts["before"], approval.facts["after"]) == (until_then, ROLES[claim])
    assert Approval.objects.count() == 3


def test_the_person_and_the_staff_pages_read_that_a_role_waits(provider, owner):
    own, browser = Client(), Client()
    provider.claims |= {"groups": ["spv"]}
    come_back(provider, own)
    assert "role_waits" in {message.extra_tags for message in own.get("/").context["messages"]}
    person = User.objects.get(username="sari")
    browser.force_login(owner)
    page, listed = (browser.get(f"/staff/{key}").content.decode() for key in (f"{person.pk}/", ""))
    assert 'id="role-waits" data-role="supervisor"' in page
    assert listed.count("data-waits=") == 1

    approve(Approval.objects.get(), owner)

    assert 'id="role-waits"' not in browser.get(f"/staff/{person.pk}/").content.decode()
    assert "data-waits=" not in browser.get("/staff/").content.decode()


def test_a_second_person_approves_the_claim_once_until_a_lower_one_comes(provider, owner):
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

    signed_in(provider, Client(), groups=["kasir"])
    assert role_now(person) is Role.CASHIER
    signed_in(provider, Client(), groups=["kepala"])
    assert role_now(person) is Role.CASHIER
    assert Approval.objects.filter(state="asked").count() == 1


def test_a_higher_claim_takes_another_approval(provider, owner):
    person = came(provider, "spv")
    approve(Approval.objects.get(), owner)

    signed_in(provider, Client(), groups=["kepala"])

    assert role_now(person) is Role.SUPERVISOR
    assert Approval.objects.get(state="asked").facts["after"] == "administrator"


def test_another_claim_meanwhile_makes_it_void(provider, owner):
    for name, groups in (("lower", ["kasir"]), ("higher", ["pemilik"]), ("none", [])):
        person = came(provider, "kepala", name=name)
        approval = Approval.objects.get(asked_by=person)
        signed_in(provider, Client(), groups=groups)
        before = role_now(person)

        assert changes_seen([approval])[approval.pk]["code"] == "NotAllowed:other_claim", name
        assert approve(approval, owner).state == "void", name
        assert role_now(person) == before, name


def test_who_left_meanwhile_gets_nothing(provider, owner):
    off, local = (came(provider, "kepala", name=name) for name in ("off", "local"))
    deactivate(off, actor=None)
    User.objects.filter(pk=local.pk).update(is_oidc=False)

    for person in (off, local):
        assert approve(Approval.objects.get(asked_by=person), owner).state == "void", person
        assert role_now(person) is Role.AUDITOR, person


def test_who_has_less_than_the_role_and_the_person_do_not_approve_it(provider, owner):
    person = came(provider, "pemilik")

    with pytest.raises(Exception, match="may not"):
        approve(Approval.objects.get(), make_person("administrator"))
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
    person = came(provider, "kasir")
    assert not AuditEvent.objects.filter(facts__alone=True).exists()

    came(provider, "kepala")
    assert role_now(person) is Role.ADMINISTRATOR
    assert AuditEvent.objects.get(facts__alone=True).kind == ROLE_CHANGED.key
    User.objects.filter(pk=person.pk).update(is_active=False)

    newcomer = came(provider, "pemilik", name="budi")
    assert role_now(newcomer) is Role.OWNER
    assert AuditEvent.objects.filter(facts__alone=True).latest("pk").person == newcomer
    evaluate_alerts()
    assert "Bu Sari" in {alert.facts["name"] for alert in Alert.objects.filter(kind="acted_alone")}


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
