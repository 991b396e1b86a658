"""The sound when a person's order ends: the choice, the marks on their orders alone, and the sounds themselves."""

import re

import pytest

from checks.sounds import FOLDER, SOUNDS, wav
from purchases.states import Status
from staff.models import User
from testing.factories import make_order
from testing.people import make_person


@pytest.mark.django_db
@pytest.mark.parametrize("choice", list(User.Endings))
def test_the_choice_is_kept_with_the_person_and_told_to_every_page(cashier, choice):
    cashier.post("/me/", {"language": "", "theme": "auto", "endings": choice})

    assert f'data-endings="{choice}"' in cashier.get("/orders/").content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("status", "ending"),
    [
        (Status.PENDING, ""),
        (Status.UNKNOWN, ""),
        (Status.SUCCESS, "good"),
        (Status.FAILED, "bad"),
        (Status.REVERSED, "bad"),
        (Status.NEEDS_ACTION, "bad"),
    ],
)
@pytest.mark.parametrize("address", ["/orders/", "/orders/{}/"])
def test_only_own_orders_are_marked_with_how_they_ended(cashier, address, status, ending):
    mine = make_order(status, placed_by=User.objects.get(username="cashier"))
    other = make_order(status, placed_by=make_person("cashier", username="other"), destination="081234567891")

    pages = "".join(cashier.get(address.format(order.ref_id)).content.decode() for order in (mine, other))

    marks = re.findall(r'data-own-order="([^"]+)" data-ending="(\w*)"', pages)
    assert set(marks) == {(mine.ref_id, ending)}


@pytest.mark.parametrize("name", SOUNDS)
def test_the_sounds_are_those_that_the_script_makes(name):
    assert (FOLDER / f"{name}.wav").read_bytes() == wav(name)
