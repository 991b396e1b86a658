"""A destination is normalised the same way however it is typed, and refused when it cannot be right."""

import pytest

from catalogue.destinations import CARD, CUSTOMER, GAME, KINDS, METER, PHONE, InvalidDestination, spellings
from catalogue.models import Category
from catalogue.operators import is_brand_of, operator_of
from testing.factories import make_biller, make_product

ZONE = KINDS["game_zone"]


def test_every_notation_of_a_phone_number_becomes_the_same_and_others_are_refused():
    for typed in ("081234567890", "+6281234567890", "62 812-3456-7890", "+62 0812 3456 7890"):
        assert PHONE.clean(typed) == "081234567890"
    for typed in ("", "0812", "021555123", "08123456789012345", "0812abc67890", "0812345678\x00"):
        with pytest.raises(InvalidDestination):
            PHONE.clean(typed)

    # a meter number has 11 or 12 digits
    assert METER.clean("1234-5678-901") == "12345678901"
    with pytest.raises(InvalidDestination):
        METER.clean("1234567890")


def test_the_operator_is_recognised_from_the_prefix_and_its_brand_by_catalogue_names():
    for number, operator in [
        *(("0812", "Telkomsel"), ("+62851", "by.U"), ("62857", "Indosat"), ("0878", "XL"), ("0838", "AXIS")),
        *(("0895", "Tri"), ("0881", "Smartfren"), ("0800", None), ("", None)),
    ]:
        known = operator_of(number)
        assert (known.name if known else None) == operator, number

    assert is_brand_of(operator_of("0895"), "Three")
    assert is_brand_of(operator_of("0857"), "IM3 Ooredoo")
    assert is_brand_of(operator_of("0851"), "by.U")
    assert not is_brand_of(operator_of("0878"), "AXIS")


def test_a_zone_typed_with_the_player_as_in_the_game_is_taken_and_nothing_else():
    for typed in ("12345678 (2685)", "12345678(2685)", " 12345678.2685 ", "12345678 2685"):
        assert ZONE.clean(typed) == "12345678.2685"
    for typed in ("(12345678)", "12345678 (26) 85", "12345678", "1234 5678 (2685)", "12345678 26"):
        with pytest.raises(InvalidDestination):
            ZONE.clean(typed)


def test_numbers_are_shown_in_groups_of_four_and_a_zone_as_in_the_game():
    assert PHONE.shown("081234567890") == "0812-3456-7890"
    assert METER.shown("12345678901") == "1234 5678 901"
    assert ZONE.shown("12345678.2685") == "12345678 (2685)"


def test_the_example_in_the_field_of_each_kind_is_one():
    for kind in KINDS.values():
        number = kind.clean(kind.placeholder)

        assert kind.clean(kind.shown(number)) == number
        assert kind.read(kind.placeholder[:3]) in {"", "123"}, kind


def test_a_search_tries_every_way_in_which_a_number_is_stored():
    numbers = [("+62 812-9000", "08129000"), ("0062812", "0812"), ("12345678 (2685)", "12345678.2685")]
    for typed, stored in [*numbers, ("SARI", "SARI")]:
        assert stored in spellings(typed)


@pytest.mark.django_db
def test_the_kind_of_destination_follows_from_category_and_brand():
    for category, brand, kind in [
        ("pulsa", "telkomsel", PHONE),
        ("paket-data", "xl", PHONE),
        ("token-pln", "pln", METER),
        ("voucher-game", "free-fire", GAME),
        ("voucher-game", "mobile_legends", ZONE),
        ("e-money", "dana", CARD),
        ("something-new", "x", CUSTOMER),
    ]:
        # its name says nothing about its numbers
        Category.objects.get_or_create(code=category, defaults={"name": "?", "type": "prepaid"})

        assert make_product(category=category, brand=brand).kind is kind, category


@pytest.mark.django_db
def test_the_kind_of_a_bills_number_follows_from_its_names():
    for category, name, number, kind in [
        ("hp-pascabayar", "Telkomsel Halo", "081234567890", PHONE),
        ("pln-pascabayar", "PLN Pascabayar", "123456789012", METER),
        ("pln-pascabayar", "PLN Non-Taglis", "5392112345678", CUSTOMER),  # a registration number
    ]:
        biller = make_biller(category=category, brand=name.split()[0].lower(), name=name)

        assert biller.kind is kind, name
        assert biller.kind.clean(number) == number
