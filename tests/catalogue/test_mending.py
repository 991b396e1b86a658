"""Numbers as a spreadsheet leaves them: mended if the mending is certain, else refused."""

import pytest

from catalogue.destinations import CARD, GAME, METER, PHONE, InvalidDestination
from catalogue.mending import DigitsLost, mend_number


@pytest.mark.parametrize(
    "typed",
    ["081234567890", "81234567890", "+62 812-3456-7890", "6281234567890", "81234567890.0", "8,1234567890E+10"],
)
@pytest.mark.parametrize("kind", [None, PHONE, CARD])
def test_a_mobile_number_is_mended(typed, kind):
    assert mend_number(typed, kind) == ("081234567890", kind or PHONE)


@pytest.mark.parametrize("typed", ["8.12E+10", "8,12e10", "6.03298123456789E+15"])
def test_lost_digits_are_never_guessed(typed):
    with pytest.raises(DigitsLost):
        mend_number(typed, None)


def test_other_numbers_are_read_by_their_kind_and_meters_are_recognised():
    assert mend_number("1234 5678 901", None) == ("12345678901", METER)
    assert mend_number("81234567890", METER) == ("81234567890", METER)
    assert mend_number("abc#12", GAME) == ("abc#12", GAME)


@pytest.mark.parametrize(("typed", "kind"), [("12345", None), ("0812", None), ("12", METER), ("7123456789", PHONE)])
def test_a_number_that_cannot_be_right_is_refused(typed, kind):
    with pytest.raises(InvalidDestination):
        mend_number(typed, kind)
