"""Amounts as people type them."""

import pytest
from django.core.exceptions import ValidationError

from core.forms import RupiahField


def test_an_amount_is_read_as_people_type_it():
    for typed, amount in {
        "1500000": 1_500_000,
        "1.500.000": 1_500_000,
        "Rp 1.500.000": 1_500_000,
        "1 500 000": 1_500_000,
        "50rb": 50_000,
        "50 RB": 50_000,
        "rp50k": 50_000,
        "7,5 ribu": 7_500,
        "1,5jt": 1_500_000,
        "2 juta": 2_000_000,
        "1.500rb": 1_500_000,
        "1,250jt": 1_250_000,
        "": None,
    }.items():
        assert RupiahField(required=False).clean(typed) == amount, typed


def test_what_is_no_whole_amount_is_refused():
    for code, texts in {
        "invalid": ("1,5", "1.5", "1,5555rb", "50 kg", "rb", "-5", "٥٠"),
        "range": ("0rb", "1000000 juta"),
    }.items():
        for typed in texts:
            with pytest.raises(ValidationError) as refusal:
                RupiahField().clean(typed)

            assert refusal.value.code == code, typed
