"""Signing in with a second factor, and with a passkey alone."""

import json

import pytest
from django.test import Client
from django.urls import NoReverseMatch, reverse
from fido2.utils import websafe_encode

from audit.models import AuditEvent
from staff.events import LOCKED, SIGN_IN, SIGN_IN_FAILED, SIGN_OUT
from staff.services import deactivate
from staff.services.own_factors import reset_factors
from testing.people import code_of, give_recovery_codes, make_person
from tests.core.helpers import codes
from tests.soft_key import SoftKey
from tests.staff.helpers import choose, reset
from tests.staff.own_keys import with_passkey

pytestmark = pytest.mark.django_db
STEP = "/accounts/second-step/"
EXTENDED = bytes(32) + b"\x80" + bytes(4)  # the facts of a key that promises an extension


def with_password(name: str = "admin", **more) -> Client:
    client = Client()
    client.post("/accounts/login/", {"login": name, "password": "secret-words", **more})
    return client


def is_in(client: Client) -> bool:
    return client.get("/me/").status_code == 200


def test_a_code_or_passkey_after_the_password_signs_in_who_has_a_factor():
    person = make_person("admin")
    key = with_passkey(person)
    client, with_key = with_password(next="/orders/"), with_password()
    assert not is_in(client), "the password alone"
    assert client.get(STEP).status_code == 200

    wrong = client.post(STEP, {"factor_code": "12"})
    assert b'data-code="FactorRefused:wrong"' in wrong.content
    assert not is_in(client)
    assert client.post(STEP, {"factor_code": code_of(person)})["Location"] == "/orders/"
    assert is_in(client)

    options = with_key.post(f"{STEP}options/").json()["publicKey"]
    with_key.post(STEP, {"factor_assertion": key.sign(options)})
    assert is_in(with_key)


def test_a_recovery_code_signs_in_once():
    codes = give_recovery_codes(make_person("admin"))

    assert is_in_after(codes[0])
    assert not is_in_after(codes[0])


def is_in_after(code: str) -> bool:
    client = with_password()
    client.post(STEP, {"factor_code": code})
    return is_in(client)


def test_a_passkey_alone_signs_in_once_with_a_finger_face_or_pin():
    make_person("admin", username="other")
    person = make_person("administrator")
    key = with_passkey(person)
    client, second, again = Client(), Client(), Client()

    key.sign_in(client, verified=False)
    assert not is_in(client)
    assert key.sign_in(client, next="/orders/")["Location"] == "/orders/"
    assert is_in(client)

    answer = {"factor_assertion": key.sign(second.post("/accounts/passkey/options/").json()["publicKey"])}
    second.post("/accounts/passkey/", answer)
    assert is_in(second)
    assert again.post("/accounts/passkey/", answer)["Location"] == reverse("account_login")
    assert not is_in(again)

    deactivate(person, actor=None)
    key.sign_in(again)
    assert not is_in(again)


def test_an_answer_of_no_browser_or_a_garbled_one_signs_nobody_in():
    answers = ["", "[]", "[" * 100_000, '{"response": []}']
    for name, garbled in (
        ("authenticatorData", EXTENDED),  # the promised extension is missing
        ("authenticatorData", EXTENDED + b"\x1a"),  # half a number
        ("authenticatorData", EXTENDED + b"\x81" * 5_000),  # an endless list
        ("clientDataJSON", b"[" * 100_000),
    ):
        answer = json.loads(SoftKey().sign({"challenge": "eHh4"}))
        answer["response"][name] = websafe_encode(garbled)
        answers.append(json.dumps(answer))

    for answer in answers:
        refused = Client().post("/accounts/passkey/", {"factor_assertion": answer})
        assert refused["Location"] == reverse("account_login"), answer[:200]


def test_a_new_password_by_a_link_replaces_no_factor_and_ends_a_sign_in_under_way():
    person = make_person("admin")
    before, client = with_password(), Client()

    choose(reset(person), client=client)

    before.post(STEP, {"factor_code": code_of(person)})
    assert not is_in(before)
    assert not is_in(client)
    client.post(STEP, {"factor_code": code_of(person)})
    assert is_in(client)


def test_no_page_of_allauth_confirms_with_a_password_or_signs_up():
    reauthenticating = ("account_reauthenticate", "mfa_reauthenticate", "mfa_reauthenticate_webauthn")
    others = ("mfa_index", "mfa_login_webauthn", "socialaccount_connections", "socialaccount_signup", "account_signup")
    for name in (*reauthenticating, *others):
        with pytest.raises(NoReverseMatch):
            reverse(name)


def test_signing_in_and_out_and_a_wait_are_recorded():
    person = make_person("cashier")
    client = Client(REMOTE_ADDR="203.0.113.9")
    client.post("/accounts/login/", {"login": "my-password", "password": "x"})
    client.post("/accounts/login/", {"login": "cashier", "password": "wrong"})
    client.post("/accounts/login/", {"login": "cashier", "password": "secret-words"})
    client.post("/accounts/logout/")

    rows = AuditEvent.objects.order_by("pk").values_list("kind", "person_id", "address", "subject")
    assert list(rows) == [
        (SIGN_IN_FAILED.key, None, "203.0.113.9", ""),  # what was typed as a name of nobody is kept nowhere
        (SIGN_IN_FAILED.key, None, "203.0.113.9", "cashier"),
        (SIGN_IN.key, person.pk, "203.0.113.9", ""),
        (SIGN_OUT.key, person.pk, "203.0.113.9", ""),
    ]
    for _ in range(5):
        Client().post("/accounts/login/", {"login": "cashier", "password": "wrong"})
    assert AuditEvent.objects.get(kind=LOCKED.key).facts["seconds"] == 30


def test_back_to_sign_in_gives_the_sign_in_up_and_without_one_there_is_no_step():
    person = make_person("admin")
    client = with_password()

    assert client.post(STEP, {"give_up": "1"})["Location"] == reverse("account_login")
    assert client.get("/accounts/login/").status_code == 200
    client.post(STEP, {"factor_code": code_of(person)})
    assert not is_in(client)
    assert Client().get(STEP)["Location"] == reverse("account_login")
    assert Client().post(f"{STEP}options/").status_code == 302


def test_a_reset_of_factors_ends_a_sign_in_under_way():
    person = make_person("admin")
    client = with_password()
    code = code_of(person)
    reset_factors(person, actor=None)

    answer = client.post(STEP, {"factor_code": code}, follow=True)

    assert "sign_in_over" in codes(answer)
    assert not is_in(client)
    assert client.get("/accounts/login/").status_code == 200
