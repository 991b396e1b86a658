"""A person's usual drawer: set with the invitation or on the person's page, and offered first."""

import re

import pytest

from audit.models import AuditEvent
from branches.models import FIRST
from drawers.models import Drawer, UsualDrawer
from drawers.services import set_usual_drawer
from drawers.services.shifts import close_shift
from staff.errors import NotAllowed
from staff.models import User
from testing.people import browser_of, make_person, signed_in
from tests.branches.helpers import make_branch
from tests.core.helpers import codes
from tests.drawers.helpers import begin, pieces_of
from tests.staff.helpers import GOOD, choose, owner

pytestmark = pytest.mark.django_db

SARI = {"full_name": "Bu Sari", "username": "sari", "role": "cashier"}


def errors(answer) -> dict[str, list[str]]:
    """The codes of the refused fields of an invitation, in all of its forms."""
    forms = [answer.context["form"], *answer.context["joining"]]
    return {name: [fault.code for fault in faults] for form in forms for name, faults in form.errors.as_data().items()}


def preselected(person: User) -> int:
    """The key of the drawer that the page of the person's drawer shows first."""
    page = signed_in(person).get("/drawer/").content.decode()
    options = re.search(r'<select name="drawer".*?</select>', page, re.DOTALL)[0]
    chosen = re.search(r'<option value="(\d+)"[^>]* selected', options) or re.search(r'<option value="(\d*)"', options)
    return int(chosen[1])


@pytest.fixture
def boss():
    return browser_of("administrator")


def test_one_invitation_says_role_limits_branch_and_drawer(boss):
    tebet = make_branch()
    Drawer.objects.create(name="A first", branch=tebet)
    kasir = Drawer.objects.create(name="Kasir", branch=tebet)

    shown = boss.confirm(
        "/staff/invite/", {**SARI, "branch": tebet.pk, "per_order": "200.000", "drawer": kasir.pk}
    ).content.decode()
    token = re.search(r"\?link=([\w-]+)", shown)[1]
    choose(token, GOOD)

    sari = User.objects.get(username="sari")
    assert (sari.branch, sari.own_per_order, [str(group) for group in sari.groups.all()]) == (
        tebet,
        200_000,
        ["cashier"],
    )
    assert preselected(sari) == kasir.pk
    event = AuditEvent.objects.get(kind="usual_drawer_changed")
    assert (event.subject, event.before, event.after) == ("sari", {"drawer": ""}, {"drawer": "Kasir"})


def test_a_drawer_of_another_branch_or_for_another_role_is_refused_and_nobody_is_invited(boss):
    tebet = make_branch()
    front = Drawer.objects.create(name="Depan")

    for browser, typed, fault in (
        (boss, {"branch": tebet.pk}, {"drawer": ["DrawerRefused:usual_elsewhere"]}),
        (boss, {"role": "viewer", "branch": FIRST}, {"drawer": ["DrawerRefused:no_right"]}),
        (signed_in(owner()), {"role": "supervisor", "branch": FIRST}, {"role": ["NotAllowed:limits_later"]}),
    ):
        answer = browser.confirm("/staff/invite/", {**SARI, "drawer": front.pk, **typed})
        assert errors(answer) == fault
    assert not User.objects.filter(username="sari").exists()
    assert not UsualDrawer.objects.exists()


def test_on_the_persons_page_it_is_set_and_taken_away_with_a_factor(boss):
    drawer, person = Drawer.objects.create(name="Depan"), make_person("cashier")
    page = f"/staff/{person.pk}/"
    assert 'id="usual-drawer-form"' in boss.get(page).content.decode()

    auditor = make_person("auditor")
    assert 'id="usual-drawer-form"' not in boss.get(f"/staff/{auditor.pk}/").content.decode()

    boss.post(f"{page}drawer/", {"drawer": drawer.pk})
    assert not UsualDrawer.objects.exists()
    off = Drawer.objects.create(name="Kasir", is_active=False)
    assert "no_usual_drawer" in codes(boss.get(boss.confirm(f"{page}drawer/", {"drawer": off.pk}).url))
    assert not UsualDrawer.objects.exists()

    boss.confirm(f"{page}drawer/", {"drawer": drawer.pk})
    assert UsualDrawer.objects.get(person=person).drawer == drawer
    assert f'<option value="{drawer.pk}" selected' in boss.get(page).content.decode()

    boss.confirm(f"{page}drawer/", {"drawer": ""})
    assert not UsualDrawer.objects.exists()
    assert [event.after for event in AuditEvent.objects.filter(kind="usual_drawer_changed").order_by("pk")] == [
        {"drawer": "Depan"},
        {"drawer": ""},
    ]


def test_only_people_who_change_limits_set_it():
    drawer, person = Drawer.objects.create(name="Depan"), make_person("cashier")
    supervisor = make_person("supervisor")

    with pytest.raises(NotAllowed) as refusal:
        set_usual_drawer(person, drawer, actor=supervisor)

    assert refusal.value.reason == "no_limits"
    assert signed_in(supervisor).post(f"/staff/{person.pk}/drawer/", {"drawer": drawer.pk}).status_code == 403
    assert 'id="usual-drawer-form"' not in signed_in(supervisor).get(f"/staff/{person.pk}/").content.decode()
    assert 'name="drawer"' not in signed_in(supervisor).get("/staff/invite/").content.decode()


def test_it_comes_before_the_drawer_of_last_time_while_it_is_free():
    last, usual = (Drawer.objects.create(name=name) for name in ("Depan", "Kasir"))
    person, other = make_person("cashier"), make_person("cashier", username="other")
    close_shift(begin(person, drawer=last, cash=0), pieces=pieces_of(0), actor=person)
    assert preselected(person) == last.pk

    set_usual_drawer(person, usual, actor=owner())
    assert preselected(person) == usual.pk

    begin(other, drawer=usual, cash=0)
    assert preselected(person) == last.pk


def test_after_a_move_to_another_branch_it_does_not_count():
    usual, person = Drawer.objects.create(name="Depan"), make_person("cashier")
    set_usual_drawer(person, usual, actor=owner())
    tebet = make_branch()
    own = Drawer.objects.create(name="Kasir", branch=tebet)

    User.objects.filter(pk=person.pk).update(branch=tebet)

    assert preselected(User.objects.get(pk=person.pk)) == own.pk
