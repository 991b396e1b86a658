"""A destination is normalised the same way however it is typed, and refused when it cannot be right."""

import pytest

from purchases.destinations import DestinationKind, is_brand_of, kind_of, normalise, operator_of, shown
from purchases.errors import InvalidDestination
from tests.factories import make_biller, make_product

PHONE, METER, ZONE = DestinationKind.PHONE, DestinationKind.METER, DestinationKind.GAME_ZONE


@pytest.mark.parametrize("typed", ["081234567890", "+6281234567890", "62 812-3456-7890", "+62 0812 3456 7890"])
def test_every_notation_of_a_phone_number_becomes_the_same(typed):
    assert normalise(PHONE, typed) == "081234567890"


@pytest.mark.parametrize("typed", ["", "0812", "021555123", "08123456789012345", "0812abc67890", "0812345678\x00"])
def test_what_is_no_mobile_number_is_refused(typed):
    with pytest.raises(InvalidDestination):
        normalise(PHONE, typed)


@pytest.mark.parametrize(
    ("number", "operator"),
    [
        *(("0812", "telkomsel"), ("+62851", "by.u"), ("62857", "indosat"), ("0878", "xl"), ("0838", "axis")),
        *(("0895", "tri"), ("0881", "smartfren"), ("0800", None), ("", None)),
    ],
)
def test_the_operator_is_recognised_from_the_prefix(number, operator):
    assert operator_of(number) == operator


def test_a_brand_is_matched_to_its_operator_by_the_names_catalogues_use():
    assert is_brand_of("tri", "Three")
    assert is_brand_of("indosat", "IM3 Ooredoo")
    assert is_brand_of("by.u", "by.U")
    assert not is_brand_of("xl", "AXIS")


def test_a_meter_number_has_11_or_12_digits():
    assert normalise(METER, "1234-5678-901") == "12345678901"
    with pytest.raises(InvalidDestination):
        normalise(METER, "1234567890")


def test_a_game_with_zones_needs_both_and_shows_them_as_players_write_them():
    destination = normalise(ZONE, "12345678", "2685")

    assert destination == "12345678.2685"
    assert shown(ZONE, destination) == "12345678 (2685)"
    with pytest.raises(InvalidDestination):
        normalise(ZONE, "12345678", "")


def test_numbers_are_shown_in_groups_of_four():
    assert shown(PHONE, "081234567890") == "0812-3456-7890"
    assert shown(METER, "12345678901") == "1234 5678 901"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("category", "brand", "kind"),
    [
        ("pulsa", "telkomsel", PHONE),
        ("paket-data", "xl", PHONE),
        ("token-pln", "pln", METER),
        ("voucher-game", "free-fire", DestinationKind.GAME),
        ("voucher-game", "mobile_legends", ZONE),
        ("e-money", "dana", DestinationKind.CARD),
        ("something-new", "x", DestinationKind.CUSTOMER),
    ],
)
def test_the_kind_of_destination_follows_from_category_and_brand(category, brand, kind):
    product = make_product(category=category, brand=brand)
    product.brand.name = brand
    product.category.name = category

    assert kind_of(product) == kind


@pytest.mark.django_db
def test_a_postpaid_phone_is_asked_for_by_its_phone_number():
    biller = make_biller(category="hp-pascabayar", brand="halo", name="Telkomsel Halo")

    assert kind_of(biller) is PHONE
