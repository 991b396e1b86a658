"""A chosen password is long, longer without a second factor, and not one that strangers try first."""

import pytest
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from shop.models import Shop
from shop.passwords import PasswordRules
from testing.people import give_factor, make_person, signed_in
from tests.staff.helpers import GOOD, choose, reset

pytestmark = pytest.mark.django_db

SHORT, GUESSABLE, KNOWN = "password_too_short", "password_guessable", "password_too_common"


def codes_of(password: str, person) -> set[str]:
    try:
        validate_password(password, person)
    except ValidationError as refusal:
        return {error.code for error in refusal.error_list}
    return set()


def test_a_long_password_of_any_signs_is_taken():
    person = make_person("cashier")

    for password in [GOOD, "empat kuda makan awan", "739518204663", "k" * 4 + "ayam-kuda-lima" * 8]:
        assert codes_of(password, person) == set(), password


def test_a_password_that_is_tried_first_is_refused():
    Shop.objects.create(only=True, name="Toko Maju")
    person = make_person("cashier", username="sari")
    of_itself = ["kas2kas2kas2", "cashier-demo", "rahasia12345", "sarisarisari", "112233445566"]

    for password in [*of_itself, "sari-toko-maju", "TokoMaju2026!"]:
        assert GUESSABLE in codes_of(password, person), password


def test_a_password_of_signs_alone_is_measured_as_it_is_and_a_known_one_refused():
    person = make_person("cashier")
    for password, refusals in (
        ("?!;%&*+=@~^$", set()),
        ("🐎🦆🐐🐍🦀🐖🐢🐇🐕🐈🦓🦔", set()),
        ("_" * 12, {GUESSABLE}),
        (" " * 12, {GUESSABLE}),
    ):
        assert codes_of(password, person) == refusals, password
    assert KNOWN in codes_of("1qaz2wsx3edc", person)


def test_eight_signs_are_enough_with_a_second_factor_alone():
    person = make_person("cashier")
    assert codes_of("vQ7pzkX1m", person) == {SHORT}
    with pytest.raises(ValidationError):
        PasswordRules().validate("vQ7pzkX1m")

    give_factor(person)

    assert codes_of("vQ7pzkX1m", person) == set()
    assert codes_of("vQ7pzkX", person) == {SHORT}
    assert codes_of("kas2kas2", person) == {GUESSABLE}


@pytest.mark.parametrize("language", ["en", "id"])
def test_the_refusal_stands_beside_the_field_in_the_persons_language(language):
    person = make_person("cashier", language=language)

    page = signed_in(person).post(
        "/accounts/password/change/",
        {"oldpassword": "secret-words", "password1": "rahasia12345", "password2": "rahasia12345"},
    )
    link = choose(reset(person), "kas2kas2").content.decode()

    (error,) = page.context["form"].errors["password1"].as_data()
    assert error.code == GUESSABLE
    assert ("easy to guess" in page.content.decode()) == (language == "en")
    assert 'id="id_new_password1_error"' in link
