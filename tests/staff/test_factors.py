"""A sensitive act takes a second factor in the very request, once."""

import datetime as dt
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.test import RequestFactory
from time_machine import travel

from core import clock
from staff.confirming import check_factor
from staff.errors import FactorRefused
from staff.models import User
from staff.services import has_factor, needs_factor, passkeys
from staff.services.factors import use_code
from testing.people import code_of, give_recovery_codes, make_person
from tests.soft_key import SoftKey
from tests.staff.own_keys import with_passkey

pytestmark = pytest.mark.django_db
ACT = {"act": "change_role", "content": {"person": 7, "role": "auditor"}}


def sent(person: User, **fields):
    request = RequestFactory().post("/", fields)
    request.user = person
    return request


def reason_of(person: User, **fields) -> str:
    try:
        check_factor(sent(person, **fields), **ACT)
    except FactorRefused as refusal:
        return refusal.reason
    return ""


def signed(key: SoftKey, person: User, *, host: str = "", **asked) -> str:
    options = passkeys.ask_for_key(person, host="testserver", **(ACT | asked))["publicKey"]
    return key.sign(options, host=host)


@pytest.mark.parametrize(
    ("role", "needs"), [("", False), ("cashier", False), ("auditor", True), ("administrator", True), ("admin", True)]
)
def test_who_approves_administers_or_exports_needs_a_factor(role, needs):
    person = make_person(role)

    assert needs_factor(User.objects.get(pk=person.pk)) is needs
    assert has_factor(person) is needs


def test_without_a_code_the_act_is_refused():
    assert reason_of(make_person("admin")) == "missing"


def test_a_code_of_the_app_counts_once():
    person = make_person("admin")
    code = code_of(person)

    assert reason_of(person, factor_code=code) == ""
    assert reason_of(person, factor_code=code) == "used"


def test_a_recovery_code_counts_once():
    person = make_person("admin")
    first, second, *_ = give_recovery_codes(person)

    assert reason_of(person, factor_code=first) == ""
    assert reason_of(person, factor_code=first) == "wrong"
    assert reason_of(person, factor_code=second) == ""


def test_a_wrong_code_or_somebody_elses_counts_not():
    person = make_person("admin")
    other_codes = give_recovery_codes(make_person("administrator"))

    assert reason_of(person, factor_code="12") == "wrong"
    assert reason_of(person, factor_code=other_codes[0]) == "wrong"


def test_guesses_of_codes_are_slowed():
    person = make_person("admin")

    reasons = [reason_of(person, factor_code="12") for _ in range(6)]

    assert reasons == ["wrong"] * 5 + ["slow"]
    assert reason_of(person, factor_code=code_of(person)) == "slow"


def test_a_passkey_gets_through_while_codes_are_slowed():
    person = make_person("admin")
    key = with_passkey(person)
    for _ in range(6):
        reason_of(person, factor_code="12")

    assert reason_of(person, factor_assertion=signed(key, person)) == ""


def test_what_a_passkey_signed_counts_once():
    person = make_person("admin")
    assertion = signed(with_passkey(person), person)

    assert reason_of(person, factor_assertion=assertion) == ""
    assert reason_of(person, factor_assertion=assertion) == "stale"


@pytest.mark.parametrize(
    "asked",
    [{"act": "deactivate"}, {"content": {"person": 7, "role": "owner"}}, {"content": {"person": 8, "role": "auditor"}}],
)
def test_a_passkey_signs_for_one_act_and_content_only(asked):
    person = make_person("admin")
    key = with_passkey(person)

    assert reason_of(person, factor_assertion=signed(key, person, **asked)) == "stale"


def test_a_passkey_of_somebody_else_or_another_site_is_refused():
    person, other = make_person("admin"), make_person("administrator")
    key = with_passkey(person)

    assert reason_of(person, factor_assertion=signed(with_passkey(other), person)) == "stale"
    assert reason_of(other, factor_assertion=signed(key, other)) == "stale"
    assert reason_of(person, factor_assertion=signed(key, person, host="evil.example")) == "stale"


@pytest.mark.parametrize("junk", ["{}", "[]", "x", '{"id": 1, "response": 2}', '{"rawId": "a", "response": {}}'])
def test_what_is_no_assertion_is_refused(junk):
    assert reason_of(make_person("admin"), factor_assertion=junk) == "stale"


def test_a_challenge_expires():
    person = make_person("admin")
    assertion = signed(with_passkey(person), person)

    with travel(clock.now() + dt.timedelta(minutes=6)):
        assert reason_of(person, factor_assertion=assertion) == "stale"


def test_who_has_no_factor_does_no_such_act():
    assert reason_of(make_person("cashier")) == "none"


def test_demo_staff_are_not_asked_in_the_sandbox_only(settings):
    person = User.objects.create_superuser("owner", is_demo=True)

    settings.SANDBOX = True
    assert reason_of(person) == ""
    settings.SANDBOX = False
    assert reason_of(person) == "none"


def test_secrets_are_encrypted_in_the_database():
    make_person("admin")
    with connection.cursor() as cursor:
        cursor.execute("SELECT data::text FROM mfa_authenticator")
        assert all("JBSWY3DP" not in row[0] for row in cursor.fetchall())


def test_a_code_outlives_a_change_of_the_key(settings):
    person = make_person("admin")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another-" + "y" * 50, [settings.SECRET_KEY]

    assert reason_of(person, factor_code=code_of(person)) == ""


def test_after_a_change_without_the_former_key_a_code_is_refused_in_a_sentence(settings):
    person = make_person("admin")
    recovery = give_recovery_codes(person)[0]
    settings.SECRET_KEY = "another-" + "y" * 50

    assert reason_of(person, factor_code=code_of(person)) == "unreadable"
    assert reason_of(person, factor_code=recovery) == "unreadable"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["app", "recovery"])
def test_of_two_requests_with_one_code_one_passes(kind):
    person = make_person("admin")
    code = code_of(person) if kind == "app" else give_recovery_codes(person)[0]

    def go(_: int) -> str:
        try:
            use_code(person, code)
        except FactorRefused as refusal:
            return refusal.reason
        finally:
            connection.close()
        return "passed"

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(go, range(4))).count("passed") == 1
