"""The branches: the shop always has an open one, and a shop with one branch never asks for it."""

import pytest
from django.db import DatabaseError, transaction

from audit.models import AuditEvent
from branches.errors import BranchRefused
from branches.models import FIRST, Branch
from branches.services import add_branch, branch_names, forget
from core import clock
from core.rights import Role
from drawers.models import Drawer
from staff.models import User
from staff.services import add_person, invite, lock_invitation
from staff.services.second import NeedsSecond
from testing.people import browser_of, make_person
from tests.branches.helpers import make_branch
from tests.core.helpers import codes, hidden
from tests.tills.helpers import boss, make_till
from tills.models import EnrolmentCode, Till

pytestmark = pytest.mark.django_db

TEXTS = {"name": "Tebet", "address": "Jl. Tebet Raya 1", "phone": "0812 3456 7890", "footer": "Sampai jumpa"}


@pytest.fixture
def tebet(admin) -> Branch:
    branch = add_branch(TEXTS, actor=User.objects.get(username="admin"))
    forget()
    return branch


def test_a_shop_begins_with_one_branch_that_no_form_names(admin):
    make_person("cashier")
    pages = ["/drawers/", "/tills/add/", f"/staff/{User.objects.get(username='cashier').pk}/"]

    assert [branch.pk for branch in Branch.objects.all()] == [FIRST]
    assert branch_names() == []
    assert not [page for page in pages if 'name="branch"' in admin.get(page).content.decode()]


def test_the_office_has_branches_from_the_second_one_on(admin):
    supervisor = browser_of("supervisor")
    link = 'data-place="branches"'
    assert link not in admin.get("/shop/").content.decode(), "a shop with one never sees the word"

    make_branch("Tebet")

    assert link in admin.get("/shop/").content.decode(), "the menu was kept before, without them"
    assert link not in supervisor.get("/drawers/").content.decode(), "who may not change the shop"


def test_a_second_branch_is_added_with_an_event(admin):
    answer = admin.post("/shop/branches/", TEXTS, follow=True)

    branch = Branch.objects.exclude(pk=FIRST).get()
    event = AuditEvent.objects.get(kind="branch_added")
    assert codes(answer) == {"branch_added"}
    assert {name: getattr(branch, name) for name in TEXTS} == TEXTS
    assert (event.subject, event.after) == (str(branch.pk), TEXTS)


def test_two_open_branches_never_have_one_name(admin, tebet):
    answer = admin.post("/shop/branches/", TEXTS | {"name": "TEBET"})
    renamed = admin.post(f"/shop/branches/{FIRST}/", TEXTS)

    assert answer.context["form"].has_error("name", "BranchRefused:name_taken")
    assert renamed.context["form"].has_error("name", "BranchRefused:name_taken")
    assert Branch.objects.count() == 2


def test_given_a_branchs_page_from_before_then_a_colleagues_texts_stay(admin, tebet):
    address = f"/shop/branches/{tebet.pk}/"
    admin.post(address, TEXTS)
    shown = TEXTS | hidden(admin.get(address))
    admin.post(address, TEXTS | {"phone": "021 555 777"})

    admin.post(address, shown | {"footer": "Datang lagi"})

    tebet.refresh_from_db()
    assert (tebet.phone, tebet.footer) == ("021 555 777", "Datang lagi")
    assert AuditEvent.objects.latest("pk").after == TEXTS | {"phone": "021 555 777", "footer": "Datang lagi"}


def test_a_drawer_is_made_in_a_branch_and_moved(admin, tebet):
    admin.post("/drawers/", {"name": "Depan", "is_active": "on", "branch": tebet.pk})
    drawer = Drawer.objects.get()
    assert drawer.branch == tebet

    admin.post(f"/drawers/{drawer.pk}/", {"name": "Depan", "is_active": "on", "branch": FIRST})

    drawer.refresh_from_db()
    event = AuditEvent.objects.filter(subject=f"drawer {drawer.pk}").latest("pk")
    assert drawer.branch_id == FIRST
    assert (event.before["branch"], event.after["branch"]) == (tebet.pk, FIRST)


def test_an_open_drawer_is_not_moved(admin, tebet, cashier):
    drawer = Drawer.objects.create(name="Depan")
    cashier.post("/drawer/open/", {"drawer": drawer.pk, "pieces_100000": "1"})

    answer = admin.post(f"/drawers/{drawer.pk}/", {"name": "Depan", "is_active": "on", "branch": tebet.pk}, follow=True)

    drawer.refresh_from_db()
    assert codes(answer) == {"DrawerRefused:in_use"}
    assert drawer.branch_id == FIRST


def test_a_till_is_enrolled_in_its_branch_and_moved(tebet):
    manager = boss()
    manager.confirm("/tills/add/", {"name": "Kasir 2", "branch": tebet.pk})
    assert EnrolmentCode.objects.get().branch == tebet
    till = make_till(branch=tebet)

    manager.confirm(f"/tills/{till.pk}/", {"name": "Kasir 1", "branch": FIRST})

    assert Till.objects.get(pk=till.pk).branch_id == FIRST


def test_a_person_is_moved_with_a_second_factor(admin, tebet):
    person = make_person("cashier")

    admin.post(f"/staff/{person.pk}/branch/", {"branch": tebet.pk})
    person.refresh_from_db()
    assert person.branch_id == FIRST

    admin.confirm(f"/staff/{person.pk}/branch/", {"branch": tebet.pk})

    person.refresh_from_db()
    event = AuditEvent.objects.get(kind="staff_moved")
    assert person.branch == tebet
    assert (event.before, event.after) == ({"branch": FIRST}, {"branch": tebet.pk})


def test_a_new_person_gets_the_inviters_branch_or_the_chosen(tebet):
    browser = browser_of("administrator", branch=tebet)

    shown = browser.get("/staff/invite/").content.decode()
    assert f'<option value="{tebet.pk}" selected>' in shown

    for name, branch in (("sari", tebet.pk), ("andi", FIRST)):
        browser.confirm("/staff/invite/", {"full_name": name, "username": name, "role": "cashier", "branch": branch})

        assert User.objects.get(username=name).branch_id == branch
        invited = AuditEvent.objects.get(kind="staff_invited", subject=name)
        assert invited.after == {"role": "cashier", "branch": branch}


def test_an_approved_invitation_keeps_its_branch_while_it_is_open(tebet):
    first, second = (make_person("admin", username=name) for name in ("one", "two"))
    with pytest.raises(NeedsSecond) as needed:
        invite(username="sari", role=Role.ADMINISTRATOR, actor=first, branch=tebet.pk)
    change = needed.value.change

    person = add_person(change, actor=first, approved_by=second)
    assert person.branch == tebet

    User.objects.filter(pk=person.pk).update(branch=FIRST)
    Branch.objects.filter(pk=tebet.pk).update(closed_at=clock.now())
    with pytest.raises(BranchRefused) as refusal:
        lock_invitation("budi", Role.ADMINISTRATOR, change.content["facts"], actor=first)
    assert refusal.value.reason == "closed"


def test_the_last_open_branch_is_never_closed(admin):
    assert codes(admin.post(f"/shop/branches/{FIRST}/close/", follow=True)) == {"BranchRefused:last"}

    with pytest.raises(DatabaseError, match="always open"), transaction.atomic():
        Branch.objects.update(closed_at="2026-01-01T00:00Z")
    with pytest.raises(DatabaseError), transaction.atomic():
        Branch.objects.all().delete()
