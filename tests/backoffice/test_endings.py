"""The sound when a person's order ends: the choice, the marks on their orders alone, and the sounds themselves."""

import re

import pytest

from checks.sounds import FOLDER, SOUNDS, wav
from staff.models import User
from testing.factories import make_order
from testing.people import make_person


@pytest.mark.django_db
def test_the_choice_is_kept_with_the_person_and_told_to_every_page(cashier):
    for choice in User.Endings:
        cashier.post("/me/", {"language": "", "theme": "auto", "endings": choice})

        assert f'data-endings="{choice}"' in cashier.get("/orders/").content.decode()


ENDINGS = {"pending": "", "unknown": "", "success": "good", "failed": "bad", "reversed": "bad", "needs_action": "bad"}


@pytest.mark.django_db
def test_only_own_orders_are_marked_with_how_they_ended(cashier):
    seller, other = User.objects.get(username="cashier"), make_person("cashier", username="other")
    own, others = (
        [
            make_order(status, placed_by=person, destination=f"08{person.pk:06}{n:04}")
            for n, status in enumerate(ENDINGS)
        ]
        for person in (seller, other)
    )

    pages = [
        cashier.get(address).content.decode()
        for address in ("/orders/", *(order.get_absolute_url() for order in [*own, *others]))
    ]

    marks = [re.findall(r'data-own-order="([^"]+)" data-ending="(\w*)"', page) for page in pages]
    expected = [(order.ref_id, ending) for order, ending in zip(own, ENDINGS.values(), strict=True)]
    assert set(marks[0]) == set(expected)
    assert [set(found) for found in marks[1:]] == [*({mark} for mark in expected), *(set() for _other in others)]


@pytest.mark.parametrize("name", SOUNDS)
def test_the_sounds_are_those_that_the_script_makes(name):
    assert (FOLDER / f"{name}.wav").read_bytes() == wav(name)
