"""Commands about tills."""

import json

import pytest

from tests.core.helpers import run
from tests.tills.helpers import make_till
from tills.models import Till

pytestmark = pytest.mark.django_db


def test_tills_are_listed():
    till = make_till("Depan")

    code, out = run("list_tills", "--json")

    assert code == 0
    assert json.loads(out) == {"id": till.pk, "name": "Depan", "on": True, "held_by": None, "locked_seconds": 0}


def test_a_till_is_switched_off():
    till = make_till("Depan")

    code, _out = run("switch_off_till", str(till.pk))

    assert code == 0
    assert not Till.objects.get().is_on


def test_an_unknown_till_is_refused():
    code, _out = run("switch_off_till", "999")

    assert code == 1
