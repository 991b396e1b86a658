"""The user name that is proposed for a person's name."""

import pytest

from staff.services import proposed_user_name
from testing.people import make_person

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("full_name", "username"),
    [
        ("Sari Dewi", "sari"),
        ("Désirée", "desiree"),
        ("De\N{COMBINING ACUTE ACCENT}sire", "desire"),
        ("Müller", "muller"),
        ("Weiß", "weiss"),
        ("Søren", "sren"),
        ("Ma'ruf", "maruf"),
        ("Ma’ruf", "maruf"),
        ("Nu`man", "numan"),
        ("Nu´man", "numan"),
        ("Bu Nur'aini", "nuraini"),
        ("Siti-Aminah", "siti"),
        ("sari_dewi", "sari"),
    ],
)
def test_a_mark_or_an_apostrophe_inside_a_word_does_not_end_it(full_name, username):
    assert proposed_user_name(full_name) == username


@pytest.mark.parametrize(
    ("full_name", "username"),
    [
        ("M. Yusuf", "yusuf"),
        ("H. Ahmad", "ahmad"),
        ("H.M. Yusuf", "yusuf"),
        ("KH. Abdul", "abdul"),
        ("Hj. Siti", "siti"),
        ("Tn. Budi", "budi"),
        ("Ny. Ani", "ani"),
        ("Mba Rani", "rani"),
        ("Cik Lina", "lina"),
        ("dr. Rina", "rina"),
        ("I Made", "made"),
        ("Ni Luh", "luh"),
    ],
)
def test_titles_and_initials_are_not_the_user_name(full_name, username):
    assert proposed_user_name(full_name) == username


@pytest.mark.parametrize(
    ("full_name", "username"), [("M.", "m"), ("Pak M", "m"), ("A. B.", "a"), ("Pak", ""), ("Bu H.", "h"), ("王", "")]
)
def test_a_name_of_initials_gives_the_first_and_titles_give_none(full_name, username):
    assert proposed_user_name(full_name) == username


def test_a_taken_name_gets_the_next_free_number():
    for taken in ("Maruf", "maruf3"):
        make_person("cashier", username=taken)

    assert proposed_user_name("Ma'ruf") == "maruf2"
