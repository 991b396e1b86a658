"""Amounts as people type them."""

import pytest
from django.core.exceptions import ValidationError

from core.forms import RupiahField


@pytest.mark.parametrize(
    ("typed", "amount"),
    [
        ("1500000", 1_500_000),
        ("1.500.000", 1_500_000),
        ("Rp 1.500.000", 1_500_000),
        ("1 500 000", 1_500_000),
        ("50rb", 50_000),
        ("50 RB", 50_000),
        ("rp50k", 50_000),
        ("7,5 ribu", 7_500),
        ("1,5jt", 1_500_000),
        ("2 juta", 2_000_000),
        ("1.500rb", 1_500_000),
        ("1,250jt", 1_250_000),
        ("", None),
    ],
)
def test_an_amount_is_read_as_people_type_it(typed: str, amount: int | None):
    assert RupiahField(required=False).clean(typed) == amount


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("1,5", "invalid"),
        ("1.5", "invalid"),
        ("1,5555rb", "invalid"),
        ("50 kg", "invalid"),
        ("rb", "invalid"),
        ("-5", "invalid"),
        ("٥٠", "invalid"),
        ("0rb", "range"),
        ("1000000 juta", "range"),
    ],
)
def test_what_is_no_whole_amount_is_refused(typed: str, code: str):
    with pytest.raises(ValidationError) as refusal:
        RupiahField().clean(typed)

    assert refusal.value.code == code
