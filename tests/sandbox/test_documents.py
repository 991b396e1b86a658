"""The documents are true: every test that they name exists, and the table of magic destinations equals the code's."""

import re
from pathlib import Path

from sandbox.catalogue_tables import CATEGORIES
from sandbox.offers import brand_code, offers
from sandbox.scenarios import MAGIC, SCENARIOS
from tests.sandbox.calls import OUTCOMES, REFUSED_ALWAYS, magic

PROJECT = Path(__file__).resolve().parents[2]
SECTIONS = ("service", "transaction", "inquiry", "state", "envelope", "list", "create", "status", "pay",
            "authentication", "event", "limit")  # fmt: skip
TESTS = {
    name
    for file in Path(__file__).parent.glob("test_*.py")
    for name in re.findall(r"^def (test_\w+)\(", file.read_text(), re.MULTILINE)
}
CITED = set(re.findall(r"`(test_\w+)`", (PROJECT / "docs/upstream-api.md").read_text()))


def test_document_names_only_tests_that_exist():
    assert len(CITED) > 40
    assert set() == CITED - TESTS


def test_document_names_every_conformance_test():
    conformance = {name for name in TESTS if re.match(rf"test_({'|'.join(SECTIONS)})s?_", name)}

    assert conformance - CITED == set()


def test_document_shows_the_scenarios_of_the_code():
    text = (PROJECT / "docs/sandbox.md").read_text()
    table = text.split("| NN | For |")[1].split("\n\n")[0].splitlines()[2:]

    rows = [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in table]

    assert rows == [
        (f"{row.number:02d}", row.applies_to, row.does, row.ends, row.within, row.charged) for row in SCENARIOS.values()
    ]


def test_every_scenario_has_a_test_and_two_digits():
    numbers = (re.match(r"test_((?:\d\d_)*)", name)[1] for name in TESTS)
    named = {int(number) for each in numbers for number in each.split("_") if number}

    assert {*named, *OUTCOMES, *(number for _, number, _ in REFUSED_ALWAYS)} == set(SCENARIOS)
    assert all(MAGIC.search(magic(number)) and 0 < number < 100 for number in SCENARIOS)


def test_the_catalogue_is_as_large_as_a_shops():
    listed = offers()

    assert len(listed) >= 400
    assert len({offer.category for offer in listed}) == len(CATEGORIES) >= 9
    assert len({offer.brand for offer in listed}) >= 30
    assert {kind for _, _, kind in CATEGORIES} == {"prepaid", "postpaid"}


def test_the_catalogues_codes_and_names_are_unique():
    listed = offers()

    assert len({offer.code for offer in listed}) == len({offer.name for offer in listed}) == len(listed)
    brands = {(offer.category, offer.brand) for offer in listed}
    assert len({brand_code(category, brand) for category, brand in brands}) == len(brands)


def test_the_catalogues_prices_are_realistic():
    kinds = {code: kind for code, _, kind in CATEGORIES}
    for offer in offers():
        is_bill = kinds[offer.category] == "postpaid"
        assert (offer.price == 0, offer.admin_fee > 0) == (is_bill, is_bill), offer
        if offer.category in ("pulsa", "token-pln", "e-money"):
            nominal = int(offer.name.rsplit(" ", 1)[1].replace(".", ""))
            assert 0.97 * nominal <= offer.price <= nominal + 5_000, offer
    assert [offer.price for offer in offers() if offer.code == "TSEL10"] == [10_250]
