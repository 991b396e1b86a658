"""The documents say what is: every named test exists, and the table of magic destinations is the code's."""

import re
from pathlib import Path

import pytest

from sandbox.catalogue_tables import CATEGORIES
from sandbox.offers import brand_code, offers
from sandbox.scenarios import MAGIC, SCENARIOS

PROJECT = Path(__file__).resolve().parents[2]
TESTS = {
    name
    for file in Path(__file__).parent.glob("test_*.py")
    for name in re.findall(r"^def (test_\w+)\(", file.read_text(), re.MULTILINE)
}
CITED = re.findall(r"`(test_\w+)`", (PROJECT / "docs/upstream-api.md").read_text())


def test_every_test_that_the_document_names_exists() -> None:
    assert len(CITED) > 70
    assert set(CITED) <= TESTS


@pytest.mark.parametrize(
    "section",
    ["service", "transaction", "inquiry", "state", "envelope", "pay", "authentication", "event", "error", "limit"],
)
def test_every_conformance_test_is_named_in_the_document(section: str) -> None:
    missing = {name for name in TESTS if name.startswith(f"test_{section}_")} - set(CITED)
    assert missing == set()


def test_the_table_of_magic_destinations_is_the_codes() -> None:
    text = (PROJECT / "docs/sandbox.md").read_text()
    table = text.split("| NN | For |")[1].split("\n\n")[0].splitlines()[2:]
    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in table]
    assert rows == [
        (f"{row.number:02d}", row.applies_to, row.does, row.ends, row.within, row.charged) for row in SCENARIOS.values()
    ]


def test_every_scenario_has_a_test() -> None:
    text = (Path(__file__).parent / "test_scenarios.py").read_text()
    tested = {
        int(number) for name in re.findall(r"def test_((?:\d\d_)+)", text) for number in name.strip("_").split("_")
    }
    assert tested == set(SCENARIOS)


def test_scenarios_are_numbered_and_chosen_by_two_digits() -> None:
    assert all(MAGIC.search(f"0812900000{number:02d}") and 0 < number < 100 for number in SCENARIOS)


def test_the_catalogue_is_as_large_as_a_shops() -> None:
    listed = offers()
    assert len(listed) >= 400
    assert len({offer.category for offer in listed}) == len(CATEGORIES) >= 9
    assert len({offer.brand for offer in listed}) >= 30
    assert {kind for _, _, kind in CATEGORIES} == {"prepaid", "postpaid"}


def test_the_catalogues_codes_and_names_are_unique() -> None:
    listed = offers()
    assert len({offer.code for offer in listed}) == len({offer.name for offer in listed}) == len(listed)
    brands = {(offer.category, offer.brand) for offer in listed}
    assert len({brand_code(category, brand) for category, brand in brands}) == len(brands)


def test_the_catalogues_prices_are_realistic() -> None:
    for offer in offers():
        kind = next(kind for code, _, kind in CATEGORIES if code == offer.category)
        if kind == "postpaid":
            assert (offer.price, offer.admin_fee > 0) == (0, True), offer
        else:
            assert offer.price > 0, offer
            assert offer.admin_fee == 0, offer
        if offer.category in ("pulsa", "token-pln", "e-money"):
            nominal = int(offer.name.rsplit(" ", 1)[1].replace(".", ""))
            assert 0.97 * nominal <= offer.price <= nominal + 5_000, offer


def test_a_telkomsel_10_000_costs_what_it_costs_in_shops() -> None:
    [offer] = [offer for offer in offers() if offer.name == "Telkomsel 10.000"]
    assert (offer.code, offer.price) == ("TSEL10", 10_250)
