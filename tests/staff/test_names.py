"""The user name that is proposed for a person's name."""

import pytest

from staff.services import proposed_user_name
from testing.people import make_person

pytestmark = pytest.mark.django_db


def test_the_first_word_that_is_no_title_or_initial_is_the_user_name():
    for full_name, username in {
        # a mark or an apostrophe inside a word does not end it
        "Sari Dewi": "sari",
        "Désirée": "desiree",
        "De\N{COMBINING ACUTE ACCENT}sire": "desire",
        "Weiß": "weiss",
        "Søren": "sren",
        "Ma'ruf": "maruf",
        "Ma’ruf": "maruf",
        "Nu`man": "numan",
        "Nu´man": "numan",
        "Siti-Aminah": "siti",
        "sari_dewi": "sari",
        # titles and initials are left out
        "Bu Nur'aini": "nuraini",
        "M. Yusuf": "yusuf",
        "H. Ahmad": "ahmad",
        "H.M. Yusuf": "yusuf",
        "KH. Abdul": "abdul",
        "Hj. Siti": "siti",
        "Tn. Budi": "budi",
        "Ny. Ani": "ani",
        "Mba Rani": "rani",
        "Cik Lina": "lina",
        "dr. Rina": "rina",
        "I Made": "made",
        "Ni Luh": "luh",
        # of initials alone the first, of titles alone none
        "M.": "m",
        "Pak M": "m",
        "A. B.": "a",
        "Pak": "",
        "Bu H.": "h",
        "王": "",
    }.items():
        assert proposed_user_name(full_name) == username, full_name


def test_a_taken_name_gets_the_next_free_number():
    for taken in ("Maruf", "maruf3"):
        make_person("cashier", username=taken)

    assert proposed_user_name("Ma'ruf") == "maruf2"
