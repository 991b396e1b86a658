"""Commands about tills."""

import json

import pytest

from tests.core.helpers import run
from tests.tills.helpers import make_till
from tills.models import Till

pytestmark = pytest.mark.django_db


def test_tills_are_listed_and_switched_off():
    till = make_till("Depan")

    code, out = run("list_tills", "--json")
    assert code == 0
    assert json.loads(out) == {"id": till.pk, "name": "Depan", "on": True, "held_by": None, "locked_seconds": 0}

    assert run("switch_off_till", "999")[0] == 1
    assert run("switch_off_till", str(till.pk))[0] == 0
    assert not Till.objects.get().is_on
