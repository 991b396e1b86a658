"""Whoever opens a drawer is offered those of the own branch first, and never gets another's by accident."""

import pytest

from drawers.forms import OpenForm
from drawers.models import Drawer
from drawers.services.shifts import close_shift
from staff.models import User
from testing.people import make_person
from tests.branches.helpers import make_branch
from tests.drawers.helpers import begin, pieces_of

pytestmark = pytest.mark.django_db


def _offered(person: User) -> tuple[list[str], int | str | None]:
    """The names that are offered, and the drawer that is chosen at first; "" where the person has to choose."""
    field = OpenForm(person=person)["drawer"]
    options = [(str(choice.data["value"]), choice.data["label"]) for choice in field.subwidgets]
    chosen = field.initial or options[0][0]
    return [label.split(" – ")[0] for _value, label in options], int(chosen) if chosen else ""


def test_the_own_branchs_drawers_come_first_and_each_names_its_branch():
    tebet = make_branch()
    Drawer.objects.create(name="Depan")
    own = Drawer.objects.create(name="Kasir", branch=tebet)
    person = make_person("cashier", branch=tebet)

    names, chosen = _offered(person)

    assert names[0] == "Kasir · Tebet"
    assert names[1].startswith("Depan · ")
    assert chosen == own.pk


def test_a_person_who_was_moved_is_offered_the_new_branchs_drawers():
    old, person = Drawer.objects.create(name="Depan"), make_person("cashier")
    close_shift(begin(person, drawer=old, cash=0), pieces=pieces_of(0), actor=person)
    tebet = make_branch()
    own = Drawer.objects.create(name="Kasir", branch=tebet)
    User.objects.filter(pk=person.pk).update(branch=tebet)

    assert _offered(User.objects.get(pk=person.pk))[1] == own.pk


def test_where_the_own_branch_has_no_free_drawer_the_person_has_to_choose():
    tebet = make_branch()
    Drawer.objects.create(name="Depan")

    names, chosen = _offered(make_person("cashier", branch=tebet))

    assert (len(names), chosen) == (2, "")


def test_with_one_branch_no_option_names_it():
    drawer, person = Drawer.objects.create(name="Depan"), make_person("cashier")

    assert _offered(person) == (["Depan"], drawer.pk)
