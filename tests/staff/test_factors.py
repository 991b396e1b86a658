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


def test_who_approves_administers_or_exports_needs_a_factor():
    for role in ("", "cashier", "auditor", "administrator", "admin"):
        person = make_person(role)

        assert needs_factor(User.objects.get(pk=person.pk)) is (role not in {"", "cashier"}), role
        assert has_factor(person) is (role not in {"", "cashier"}), role
    assert reason_of(User.objects.get(username="cashier")) == "none"


def test_an_act_takes_an_own_code_of_the_app_or_for_recovery_once():
    person = make_person("admin")
    first, second, *_ = give_recovery_codes(person)
    other_codes = give_recovery_codes(make_person("administrator"))
    code = code_of(person)

    assert reason_of(person) == "missing"
    assert [reason_of(person, factor_code=wrong) for wrong in ("12", other_codes[0])] == ["wrong", "wrong"]
    assert [reason_of(person, factor_code=code) for _ in range(2)] == ["", "used"]
    assert [reason_of(person, factor_code=each) for each in (first, first, second)] == ["", "wrong", ""]


def test_guesses_of_codes_are_slowed_and_a_passkey_gets_through():
    person = make_person("admin")
    key = with_passkey(person)

    reasons = [reason_of(person, factor_code="12") for _ in range(6)]

    assert reasons == ["wrong"] * 5 + ["slow"]
    assert reason_of(person, factor_code=code_of(person)) == "slow"
    assert reason_of(person, factor_assertion=signed(key, person)) == ""


def test_a_passkey_signs_once_in_time_for_one_person_site_act_and_content():
    person, other = make_person("admin"), make_person("administrator")
    key, of_other = with_passkey(person), with_passkey(other)
    assertion, late = signed(key, person), signed(key, person)
    assert [reason_of(person, factor_assertion=assertion) for _ in range(2)] == ["", "stale"]

    elsewhere = ({"person": 7, "role": "owner"}, {"person": 8, "role": "auditor"})
    for asked in ({"act": "deactivate"}, *({"content": content} for content in elsewhere)):
        assert reason_of(person, factor_assertion=signed(key, person, **asked)) == "stale", asked
    assert reason_of(person, factor_assertion=signed(of_other, person)) == "stale"
    assert reason_of(other, factor_assertion=signed(key, other)) == "stale"
    assert reason_of(person, factor_assertion=signed(key, person, host="evil.example")) == "stale"
    for junk in ("{}", "[]", "x", '{"id": 1, "response": 2}', '{"rawId": "a", "response": {}}'):
        assert reason_of(person, factor_assertion=junk) == "stale", junk
    with travel(clock.now() + dt.timedelta(minutes=6)):
        assert reason_of(person, factor_assertion=late) == "stale"
    assert reason_of(person, factor_assertion=signed(key, person)) == ""


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


def test_a_code_outlives_a_change_of_the_key_and_is_else_refused_in_a_sentence(settings):
    person = make_person("admin")
    recovery = give_recovery_codes(person)[0]
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another-" + "y" * 50, [settings.SECRET_KEY]

    assert reason_of(person, factor_code=code_of(person)) == ""

    settings.SECRET_KEY_FALLBACKS = []
    assert reason_of(person, factor_code=code_of(person)) == "unreadable"
    assert reason_of(person, factor_code=recovery) == "unreadable"


@pytest.mark.django_db(transaction=True)
def test_of_two_requests_with_one_code_one_passes():
    person = make_person("admin")
    for code in (code_of(person), give_recovery_codes(person)[0]):

        def go(_: int, code: str = code) -> str:
            try:
                use_code(person, code)
            except FactorRefused as refusal:
                return refusal.reason
            finally:
                connection.close()
            return "passed"

        with ThreadPoolExecutor(4) as pool:
            assert sorted(pool.map(go, range(4))).count("passed") == 1
