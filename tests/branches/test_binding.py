"""The people who may bind a person to a branch, and the rights of a bound person."""

import pytest
from django.db import transaction
from django.utils import timezone

from audit.models import AuditEvent
from core.rights import Role
from drawers.errors import DrawerRefused
from drawers.models import Drawer, Shift
from drawers.services.shifts import close_shift
from staff.errors import NotAllowed
from staff.models import User
from staff.services import bind, change_role, move
from testing.orders import Meanwhile
from testing.people import browser_of, make_person
from tests.branches.helpers import make_branch
from tests.core.helpers import codes, has_id
from tests.drawers.helpers import begin, pieces_of

pytestmark = pytest.mark.django_db


def test_only_an_owner_binds_a_person_and_with_a_second_factor(admin):
    tebet = make_branch()
    person = make_person("supervisor", username="sonia", branch=tebet)
    manager = browser_of("administrator")
    assert manager.confirm(f"/staff/{person.pk}/bind/", {"bound": "1"}).status_code == 403
    assert 'id="bind-form"' not in manager.get(f"/staff/{person.pk}/").content.decode()
    assert 'id="bind-form"' in admin.get(f"/staff/{person.pk}/").content.decode()

    refused = admin.post(f"/staff/{person.pk}/bind/", {"bound": "1"}, follow=True)
    assert codes(refused) == {"FactorRefused:missing"}
    assert User.objects.get(pk=person.pk).bound_to is None
    answer = admin.confirm(f"/staff/{person.pk}/bind/", {"bound": "1"}, follow=True)

    event = AuditEvent.objects.get(kind="staff_bound")
    assert codes(answer) == {"person_bound"}
    assert User.objects.get(pk=person.pk).bound_to == tebet.pk
    assert (event.before, event.after, event.facts) == ({"is_bound": False}, {"is_bound": True}, {"branch": tebet.pk})


def test_an_owner_is_never_bound_and_alone_moves_a_bound_person():
    tebet, owner = make_branch(), make_person("admin", username="boss")
    person = make_person("supervisor", username="sonia", branch=tebet, bound_since=timezone.now())
    cashier = make_person("cashier", username="sari", bound_since="2026-01-01T00:00Z")
    with pytest.raises(NotAllowed):
        bind(make_person("admin", username="second"), is_bound=True, actor=owner)
    change_role(person, Role.OWNER, actor=None)
    assert User.objects.get(pk=person.pk).bound_to is None

    with pytest.raises(NotAllowed) as refused:
        move(cashier, branch=tebet.pk, actor=make_person("administrator"))
    move(cashier, branch=tebet.pk, actor=owner)
    moved = User.objects.get(pk=cashier.pk)
    assert refused.value.reason == "owner_binds"
    assert moved.bound_to == tebet.pk
    assert moved.bound_since.year >= timezone.now().year


def test_given_an_open_shift_then_nobody_moves_the_person(admin):
    tebet, person = make_branch(), make_person("cashier", username="sonia")
    shift = begin(person, cash=0)

    page = admin.get(f"/staff/{person.pk}/")
    assert f'href="/shifts/{shift.pk}/"' in page.content.decode().partition('id="shift-open"')[2]
    assert not has_id(page, "branch-form")
    refused = admin.confirm(f"/staff/{person.pk}/branch/", {"branch": tebet.pk}, follow=True)

    assert codes(refused) == {"NotAllowed:shift_open"}
    assert User.objects.get(pk=person.pk).branch_id == shift.drawer.branch_id
    assert not AuditEvent.objects.filter(kind="staff_moved").exists()

    close_shift(shift, pieces=pieces_of(0), actor=person)
    page = admin.get(f"/staff/{person.pk}/")
    assert (has_id(page, "branch-form"), has_id(page, "shift-open")) == (True, False)
    moved = admin.confirm(f"/staff/{person.pk}/branch/", {"branch": tebet.pk}, follow=True)
    assert codes(moved) == {"person_moved"}
    assert User.objects.get(pk=person.pk).branch_id == tebet.pk


def test_a_shift_at_a_drawer_of_the_new_branch_stays_open():
    tebet, person = make_branch(), make_person("cashier", username="sonia")
    shift = begin(person, drawer=Drawer.objects.create(name="Kasir", branch=tebet), cash=0)

    page = browser_of("admin").get(f"/staff/{person.pk}/")
    assert (has_id(page, "branch-form"), has_id(page, "shift-open"), has_id(page, "bind-form")) == (True, True, False)
    with pytest.raises(NotAllowed) as refused:
        bind(person, is_bound=True, actor=User.objects.get(username="admin"))
    move(person, branch=tebet.pk, actor=make_person("administrator"))

    shift.refresh_from_db()
    assert refused.value.reason == "shift_open"
    assert (shift.is_open, User.objects.get(pk=person.pk).branch_id) == (True, tebet.pk)


@pytest.mark.django_db(transaction=True)
def test_a_drawer_opened_during_a_move_is_of_the_new_branch():
    tebet, owner = make_branch(), make_person("admin")
    old, person = Drawer.objects.create(name="Depan"), make_person("cashier", bound_since="2026-01-01T00:00Z")

    with transaction.atomic():
        move(person, branch=tebet.pk, actor=owner)
        opening = Meanwhile(lambda: begin(person, drawer=old))
        assert opening.is_blocked_by_us()

    with pytest.raises(DrawerRefused) as refused:
        opening.end()
    assert (refused.value.reason, Shift.objects.count()) == ("other_branch", 0)


def test_rights_of_the_whole_shop_are_not_held_by_a_bound_person():
    make_branch()
    person = make_person("administrator", bound_since=timezone.now())
    held = User.objects.get(pk=person.pk)

    assert held.has_perm("purchases.resolve_order")
    assert [
        right
        for right in ("audit.view_auditevent", "ledger.view_entry", "policies.change_policies", "bank.match_bank")
        if held.has_perm(right)
    ] == []
    assert browser_of("administrator", username="other").get("/audit/").status_code == 200
