"""Acts on a till take a fresh second factor, bound to exactly that act."""

import json
from typing import Any

import pytest

from audit.models import AuditEvent
from branches.models import FIRST
from core import clock
from testing.people import code_of, make_person, signed_in
from tests.branches.helpers import make_branch
from tests.core.helpers import codes, hidden
from tests.staff.own_keys import with_passkey
from tests.tills.helpers import boss, make_till, manager
from tills.models import Till
from tills.services.enrolling import change_till

pytestmark = pytest.mark.django_db

LIMIT = {"name": "Kasir 1", "pin_limit": "50000"}
ACTS: dict[str, tuple[str, str, dict[str, str]]] = {
    "change": ("till_change", "", LIMIT),
    "off": ("till_off", "off/", {}),
    "unlock": ("till_unlock", "unlock/", {}),
}


def refusals(answer: Any) -> set[str]:
    """The codes of the refusals, in the form or beside it."""
    form = answer.context.get("form")
    return codes(answer) | {fault.code for faults in form.errors.as_data().values() for fault in faults}


def state(till: Any) -> tuple[Any, ...]:
    till.refresh_from_db()
    return till.name, till.pin_limit, till.is_on, till.wrong_pins


@pytest.fixture
def till(db):
    return make_till(wrong_pins={"1": 3})


def test_without_a_good_code_nothing_happens(till):
    browser, before = boss(), state(till)
    for code, reason in (("", "missing"), ("000000", "wrong")):
        for act, (_name, path, fields) in ACTS.items():
            answer = browser.post(f"/tills/{till.pk}/{path}", fields | {"factor_code": code}, follow=True)

            assert state(till) == before, act
            assert refusals(answer) == {f"FactorRefused:{reason}"}, act
    assert not AuditEvent.objects.filter(kind__in=["setting_changed", "till_switched_off", "unlocked"]).exists()


def test_a_code_confirms_one_act():
    browser, other = boss(), make_till("Kasir 9", wrong_pins={"1": 3})
    for act, (_name, path, fields) in ACTS.items():
        till = make_till(f"Kasir {act}", wrong_pins={"1": 3})
        before, code = state(till), code_of(manager())

        browser.post(f"/tills/{till.pk}/{path}", fields | {"factor_code": code})
        browser.post(f"/tills/{other.pk}/unlock/", {"factor_code": code})

        assert state(till) != before, act
        assert state(other)[3] == {"1": 3}, act


def test_a_passkey_confirms_this_till_and_no_other(till):
    other = make_till("Kasir 2", wrong_pins={"1": 3})
    key, browser, before = with_passkey(manager()), boss(), state(other)
    for act in ("unlock", "change", "off"):
        name, path, fields = ACTS[act]

        def signed(name: str = name, fields: dict[str, str] = fields) -> str:
            asked = {"act": name, "content": json.dumps({"till": till.pk} | fields)}
            return key.sign(browser.post("/me/factors/options/", asked).json()["publicKey"])

        browser.post(f"/tills/{other.pk}/{path}", fields | {"factor_assertion": signed()})
        assert state(other) == before, act
        if fields:
            browser.post(f"/tills/{till.pk}/{path}", fields | {"pin_limit": "90000", "factor_assertion": signed()})
            assert state(till)[1] is None
        untouched = state(till)
        browser.post(f"/tills/{till.pk}/{path}", fields | {"factor_assertion": signed()})
        assert state(till) != untouched, act


def test_a_change_that_is_refused_leaves_its_code_valid(till):
    make_till("Kasir 2")
    browser, address, code = boss(), f"/tills/{till.pk}/", {"factor_code": code_of(manager())}

    taken = browser.post(address, LIMIT | {"name": "kasir 2"} | code)
    browser.post(address, LIMIT | code)

    assert refusals(taken) == {"TillNameTaken"}
    assert state(till)[1] == 50_000


def test_a_new_till_that_is_refused_leaves_its_code_valid():
    make_till("Depan", branch=make_branch("Tebet"))
    person = make_person("administrator", username="bound", bound_since=clock.now())
    browser, code = signed_in(person), code_of(person)

    taken, made = (browser.post("/tills/add/", {"name": name, "factor_code": code}) for name in ("depan", "Baru"))

    assert refusals(taken) == {"TillNameTaken"}
    assert made.context["code"]


def test_another_name_takes_no_factor(till):
    boss().post(f"/tills/{till.pk}/", {"name": "Depan", "pin_limit": ""})

    till.refresh_from_db()
    assert (till.name, till.pin_limit) == ("Depan", None)


def test_another_branch_takes_a_factor_for_this_branch():
    till, branch = make_till(), make_branch()
    key, browser, moved = with_passkey(manager()), boss(), {"name": "Kasir 1", "pin_limit": "", "branch": branch.pk}

    def move(signed: dict[str, Any]) -> int:
        asked = {"act": "till_change", "content": json.dumps({"till": till.pk} | signed)}
        assertion = key.sign(browser.post("/me/factors/options/", asked).json()["publicKey"])
        browser.post(f"/tills/{till.pk}/", moved | {"factor_assertion": assertion})
        till.refresh_from_db()
        return till.branch_id

    page = browser.get(f"/tills/{till.pk}/").content.decode()
    refused = browser.post(f"/tills/{till.pk}/", moved)

    assert 'data-fields="name branch pin_limit"' in page
    assert refusals(refused) == {"FactorRefused:missing"}
    assert move({"name": "Kasir 1", "pin_limit": "", "branch": str(FIRST)}) == FIRST
    assert move({"name": "Kasir 1", "pin_limit": "", "branch": str(branch.pk)}) == branch.pk


def test_what_was_changed_meanwhile_stays_when_another_name_is_saved(till):
    branch, seen = make_branch(), Till.objects.get(pk=till.pk)
    Till.objects.filter(pk=till.pk).update(branch=branch, pin_limit=20_000)

    change_till(seen, name="Depan", pin_limit=None, branch=FIRST, actor=manager())

    till.refresh_from_db()
    assert (till.name, till.branch_id, till.pin_limit) == ("Depan", branch.pk, 20_000)


def test_given_a_tills_page_from_before_then_a_colleagues_change_stays(till):
    browser, address, tebet = boss(), f"/tills/{till.pk}/", make_branch("Tebet")
    shown = {"initial-pin_limit": ""} | hidden(browser.get(address)) | LIMIT | {"pin_limit": "", "branch": str(FIRST)}
    Till.objects.filter(pk=till.pk).update(name="Depan", branch=tebet)

    browser.confirm(address, shown | {"pin_limit": "90.000"})
    with_limit = (*state(till)[:2], till.branch_id)
    browser.confirm(address, shown | {"name": "Belakang"})

    assert with_limit == ("Depan", 90_000, tebet.pk)
    assert (*state(till)[:2], till.branch_id) == ("Belakang", 90_000, tebet.pk)


def test_the_page_signs_what_the_server_compares_and_says_what_moving_changes(till):
    with_passkey(manager())
    browser, address = boss(), f"/tills/{till.pk}/"

    page = browser.get(address).content.decode()

    assert page.count(f'data-content="{{&quot;till&quot;: {till.pk}}}"') == 3
    assert 'data-fields="name pin_limit"' in page
    assert 'id="branch-holds"' not in page
    make_branch("Tebet")
    assert 'id="branch-holds"' in browser.get(address).content.decode()
