"""Signing in with a second factor, and with a passkey alone."""

import json

import pytest
from django.test import Client
from django.urls import NoReverseMatch, reverse
from fido2.utils import websafe_encode

from audit.models import AuditEvent
from staff.events import LOCKED, SIGN_IN, SIGN_IN_FAILED, SIGN_OUT
from staff.services import deactivate, make_link
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


def test_the_password_alone_signs_nobody_in_who_has_a_factor():
    make_person("admin")
    client = with_password()

    assert not is_in(client)
    assert client.get(STEP).status_code == 200


def test_a_code_after_the_password_signs_in_and_leads_where_one_wanted():
    person = make_person("admin")
    client = with_password(next="/orders/")

    answer = client.post(STEP, {"factor_code": code_of(person)})

    assert answer["Location"] == "/orders/"
    assert is_in(client)


def test_a_recovery_code_signs_in_once():
    codes = give_recovery_codes(make_person("admin"))

    assert is_in_after(codes[0])
    assert not is_in_after(codes[0])


def is_in_after(code: str) -> bool:
    client = with_password()
    client.post(STEP, {"factor_code": code})
    return is_in(client)


def test_a_wrong_code_says_so_and_signs_nobody_in():
    make_person("admin")
    client = with_password()

    answer = client.post(STEP, {"factor_code": "12"})

    assert b'data-code="FactorRefused:wrong"' in answer.content
    assert not is_in(client)


def test_a_passkey_after_the_password_signs_in():
    person = make_person("admin")
    key = with_passkey(person)
    client = with_password()
    options = client.post(f"{STEP}options/").json()["publicKey"]

    client.post(STEP, {"factor_assertion": key.sign(options)})

    assert is_in(client)


def test_a_passkey_alone_signs_in():
    key = with_passkey(make_person("admin"))
    client = Client()

    answer = key.sign_in(client, next="/orders/")

    assert answer["Location"] == "/orders/"
    assert is_in(client)


def test_a_signed_answer_signs_in_once():
    key = with_passkey(make_person("admin"))
    options = Client().post("/accounts/passkey/options/").json()["publicKey"]
    answer = {"factor_assertion": key.sign(options)}
    Client().post("/accounts/passkey/", answer)
    again = Client()

    assert again.post("/accounts/passkey/", answer)["Location"] == reverse("account_login")
    assert not is_in(again)


@pytest.mark.parametrize("answer", ["", "[]", "[" * 100_000, '{"response": []}'])
def test_an_answer_of_no_browser_signs_nobody_in(answer):
    assert Client().post("/accounts/passkey/", {"factor_assertion": answer})["Location"] == reverse("account_login")


@pytest.mark.parametrize(
    ("name", "garbled"),
    [
        ("authenticatorData", EXTENDED),
        ("authenticatorData", EXTENDED + b"\x1a"),
        ("authenticatorData", EXTENDED + b"\x81" * 5_000),
        ("clientDataJSON", b"[" * 100_000),
    ],
    ids=["nothing", "half a number", "endless list", "endless JSON"],
)
def test_a_garbled_answer_of_a_passkey_signs_nobody_in(name, garbled):
    answer = json.loads(SoftKey().sign({"challenge": "eHh4"}))
    answer["response"][name] = websafe_encode(garbled)

    refused = Client().post("/accounts/passkey/", {"factor_assertion": json.dumps(answer)})

    assert refused["Location"] == reverse("account_login")


def test_a_passkey_sign_in_takes_a_finger_face_or_pin():
    key = with_passkey(make_person("admin"))
    client = Client()

    key.sign_in(client, verified=False)

    assert not is_in(client)


def test_the_passkey_of_an_account_that_is_off_signs_nobody_in():
    make_person("admin", username="other")
    person = make_person("administrator")
    key = with_passkey(person)
    deactivate(person, actor=None)
    client = Client()

    key.sign_in(client)

    assert not is_in(client)


def test_a_link_for_a_new_password_replaces_no_second_factor():
    person = make_person("admin")
    client = Client()

    choose(reset(person), client=client)

    assert not is_in(client)
    client.post(STEP, {"factor_code": code_of(person)})
    assert is_in(client)


def test_a_password_that_was_replaced_meanwhile_opens_no_second_step():
    person = make_person("admin")
    client = with_password()
    choose(make_link(person, actor=None))

    client.post(STEP, {"factor_code": code_of(person)})

    assert not is_in(client)


def test_without_a_password_there_is_no_second_step():
    make_person("admin")

    assert Client().get(STEP)["Location"] == reverse("account_login")
    assert Client().post(f"{STEP}options/").status_code == 302


@pytest.mark.parametrize(
    "name",
    ["account_reauthenticate", "mfa_reauthenticate", "mfa_reauthenticate_webauthn", "mfa_index", "mfa_login_webauthn"],
)
def test_no_page_of_allauth_confirms_with_a_password(name):
    with pytest.raises(NoReverseMatch):
        reverse(name)


def test_signing_in_and_out_is_recorded(caplog):
    person = make_person("cashier")
    client = Client(REMOTE_ADDR="203.0.113.9")
    client.post("/accounts/login/", {"login": "cashier", "password": "wrong"})
    client.post("/accounts/login/", {"login": "cashier", "password": "secret-words"})
    client.post("/accounts/logout/")

    rows = AuditEvent.objects.order_by("pk").values_list("kind", "person_id", "address", "subject")
    assert list(rows) == [
        (SIGN_IN_FAILED.key, None, "203.0.113.9", "cashier"),
        (SIGN_IN.key, person.pk, "203.0.113.9", ""),
        (SIGN_OUT.key, person.pk, "203.0.113.9", ""),
    ]


def test_what_was_typed_as_a_name_of_nobody_is_kept_nowhere():
    Client().post("/accounts/login/", {"login": "my-password", "password": "x"})

    assert AuditEvent.objects.get().subject == ""


def test_a_wait_is_recorded():
    make_person("cashier")
    for _ in range(5):
        Client().post("/accounts/login/", {"login": "cashier", "password": "wrong"})

    assert AuditEvent.objects.get(kind=LOCKED.key).facts["seconds"] == 30


def test_back_to_sign_in_gives_the_sign_in_up():
    person = make_person("admin")
    client = with_password()

    assert client.post(STEP, {"give_up": "1"})["Location"] == reverse("account_login")
    assert client.get("/accounts/login/").status_code == 200
    client.post(STEP, {"factor_code": code_of(person)})
    assert not is_in(client)


def test_a_reset_of_factors_ends_a_sign_in_under_way():
    person = make_person("admin")
    client = with_password()
    code = code_of(person)
    reset_factors(person, actor=None)

    answer = client.post(STEP, {"factor_code": code}, follow=True)

    assert "sign_in_over" in codes(answer)
    assert not is_in(client)
    assert client.get("/accounts/login/").status_code == 200
