"""Numbers as a spreadsheet leaves them: mended if the mending is certain, else refused."""

import pytest

from catalogue.destinations import CARD, GAME, METER, PHONE, InvalidDestination
from catalogue.mending import DigitsLost, mend_number


def test_a_mobile_number_is_mended_and_lost_digits_are_never_guessed():
    numbers = ["081234567890", "81234567890", "+62 812-3456-7890", "6281234567890", "81234567890.0"]
    for typed in [*numbers, "8,1234567890E+10"]:
        for kind in (None, PHONE, CARD):
            assert mend_number(typed, kind) == ("081234567890", kind or PHONE), typed
    for typed in ("8.12E+10", "8,12e10", "6.03298123456789E+15"):
        with pytest.raises(DigitsLost):
            mend_number(typed, None)
    for typed, kind in [("12345", None), ("0812", None), ("12", METER), ("7123456789", PHONE)]:
        with pytest.raises(InvalidDestination):
            mend_number(typed, kind)


def test_other_numbers_are_read_by_their_kind_and_meters_are_recognised():
    assert mend_number("1234 5678 901", None) == ("12345678901", METER)
    assert mend_number("81234567890", METER) == ("81234567890", METER)
    assert mend_number("abc#12", GAME) == ("abc#12", GAME)
