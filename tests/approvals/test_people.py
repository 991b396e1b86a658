"""Every change that lets people do or spend more takes a second person, if there is one; a cut holds at once."""

import pytest
from django.core.management import CommandError, call_command

from approvals.models import Approval
from audit.models import AuditEvent
from core.rights import Right, Role
from staff.models import BREAK_GLASS, AccessLink, RoleLimits, User
from staff.roles import ROLES, rights_by_role
from staff.services import (
    Limits,
    change_limits,
    change_role,
    change_role_rights,
    deactivate,
    invite,
    limits_of,
    limits_of_roles,
    make_link,
    reactivate,
)
from testing.people import browser_of, make_person, signed_in
from tests.approvals.helpers import MORE, approve, approve_on_page, approver, asked, role_now
from tests.core.helpers import codes

pytestmark = pytest.mark.django_db

LESS = Limits(per_order=50_000, per_day=None, approval_above=None)


@pytest.fixture
def sari(db):
    return make_person("cashier", username="sari", own_per_order=100_000)


def most(person: User) -> int | None:
    return limits_of(User.objects.get(pk=person.pk)).per_order


def test_given_higher_limits_then_they_wait_and_lower_do_not(owners, sari):
    approval = asked(lambda: change_limits(sari, MORE, actor=owners[0]))
    change_limits(sari, LESS, actor=owners[1])
    assert approve(approval, approver("third")).state == "void", "other limits meanwhile"
    assert most(sari) == 50_000

    approval = asked(lambda: change_limits(User.objects.get(pk=sari.pk), MORE, actor=owners[0]))
    assert most(sari) == 50_000
    approve(approval, owners[1])
    assert most(sari) == 200_000
    event = AuditEvent.objects.filter(kind="limit_changed").latest("pk")
    assert event.facts == {"approved_by": owners[1].pk, "alone": False}


def test_given_more_rights_or_limits_of_a_role_then_another_owner_approves(owners):
    rights = {*ROLES[Role.CASHIER], "purchases.propose_verdict"}
    approval = asked(lambda: change_role_rights(Role.CASHIER, rights, Limits(), actor=owners[0]))
    assert rights_by_role()[Role.CASHIER] == set(ROLES[Role.CASHIER])

    approve(approval, owners[1])

    assert rights_by_role()[Role.CASHIER] == rights
    change_role_rights(Role.CASHIER, ROLES[Role.CASHIER], Limits(per_order=1_000), actor=owners[0])
    assert limits_of_roles()[Role.CASHIER].per_order == 1_000

    approval = asked(lambda: change_role_rights(Role.CASHIER, ROLES[Role.CASHIER], Limits(), actor=owners[0]))
    with pytest.raises(Exception, match="may not"):
        approve(approval, make_person("administrator"))
    assert limits_of_roles()[Role.CASHIER].per_order == 1_000
    approve(approval, owners[1])
    assert limits_of_roles()[Role.CASHIER] == Limits()


def test_given_a_strong_role_then_an_invitation_waits(owners):
    approval = asked(lambda: invite(username="budi", role=Role.ADMINISTRATOR, actor=owners[0], full_name="Pak Budi"))
    assert not User.objects.filter(username="budi").exists()

    approve(approval, owners[1])

    budi = User.objects.get(username="budi")
    assert (role_now(budi), budi.first_name, budi.has_joined) == (Role.ADMINISTRATOR, "Pak Budi", False)
    assert not AccessLink.objects.exists()
    boss = signed_in(owners[0])
    page = boss.get(f"/staff/{budi.pk}/").content.decode()
    assert 'data-standing="approved"' in page
    assert 'id="link-lacks"' in page
    assert 'id="done"' not in page  # a person who never signed in did nothing
    shown = boss.get(approval.get_absolute_url()).content.decode()
    assert f"<li>{Right.MANAGE_STAFF.label}</li>" in shown
    assert f'href="/staff/{budi.pk}/"' in shown
    assert make_link(budi, actor=owners[0])
    assert 'data-standing="invited"' in boss.get(f"/staff/{budi.pk}/").content.decode()


def test_given_a_cashier_then_an_invitation_holds_at_once_and_a_taken_name_makes_one_void(owners):
    approval = asked(lambda: invite(username="budi", role=Role.OWNER, actor=owners[0]))

    _person, token = invite(username="Budi", role=Role.CASHIER, actor=owners[0])

    assert token
    assert approve(approval, owners[1]).state == "void"


def test_given_a_strong_account_then_switching_it_on_waits(owners):
    strong, weak = make_person("supervisor", username="strong"), make_person("cashier", username="weak")
    for person in (strong, weak):
        deactivate(person, actor=owners[1])

    approval = asked(lambda: reactivate(strong, actor=owners[0]))
    reactivate(weak, actor=owners[0])
    assert list(User.objects.filter(is_active=False)) == [strong]

    approve(approval, owners[1])
    assert not User.objects.filter(is_active=False).exists()


def test_given_a_withdrawn_invitation_then_inviting_again_waits(owners):
    strong, _token = invite(username="strong", role=Role.SUPERVISOR, actor=None)
    deactivate(strong, actor=owners[1])

    approval = asked(lambda: make_link(strong, actor=owners[0]))
    approve(approval, owners[1])

    assert make_link(strong, actor=owners[0])


def test_given_one_owner_and_the_envelope_then_all_is_done_alone(sari):
    only = approver("only")
    make_person("admin", username=BREAK_GLASS)

    change_limits(sari, MORE, actor=only)
    change_role(sari, Role.SUPERVISOR, actor=only)
    change_role_rights(Role.VIEWER, ROLES[Role.CASHIER], Limits(), actor=only)
    invite(username="budi", role=Role.SUPERVISOR, actor=only)

    assert all(event.facts["alone"] for event in AuditEvent.objects.all())
    assert AuditEvent.objects.count() == 4

    strong, _token = invite(username="strong", role=Role.SUPERVISOR, actor=None)
    deactivate(strong, actor=only)
    for _ in range(2):
        make_link(strong, actor=only)
    again, ordinary = AuditEvent.objects.filter(kind="link_made").order_by("pk")
    assert again.facts["alone"]
    assert "alone" not in ordinary.facts


def test_given_fewer_rights_but_higher_limits_then_a_role_waits(owners):
    RoleLimits.objects.create(role="supervisor", per_order=1_000)
    person = make_person("supervisor")

    approval = asked(lambda: change_role(person, Role.CASHIER, actor=owners[0]))

    assert approval.facts["gains"] == ["limits"]


def test_given_a_command_as_a_person_then_a_strong_role_is_refused(owners):
    with pytest.raises(CommandError, match="second person"):
        call_command("add_staff", "budi", "--role", "supervisor", "--as", "first")

    assert not User.objects.filter(username="budi").exists()


PAGES = {
    "limits": ("/staff/{pk}/limits/", {"per_order": "200.000"}),
    "rights": ("/staff/roles/viewer/", {"rights": list(ROLES[Role.CASHIER])}),
    "invite": ("/staff/invite/", {"username": "budi", "full_name": "Budi", "role": "supervisor"}),
}


def test_given_the_page_then_it_asks_with_a_second_factor_and_the_other_owner_approves(sari):
    first, second = browser_of("admin", username="first"), browser_of("admin", username="second")
    for number, (page, (address, fields)) in enumerate(PAGES.items()):
        refused = first.post(address.format(pk=sari.pk), fields, follow=True)
        assert page == "invite" or codes(refused) == {"FactorRefused:missing"}, page
        assert Approval.objects.count() == number

        answer = first.confirm(address.format(pk=sari.pk), fields, follow=True)

        assert "waits_for_approval" in codes(answer), page
        approval = Approval.objects.latest("pk")
        assert second.get(approval.get_absolute_url()).status_code == 200
        approve_on_page(second, approval)
        approval.refresh_from_db()
        assert approval.state == "approved", page
        assert first.get(approval.get_absolute_url()).status_code == 200
