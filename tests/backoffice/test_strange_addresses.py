"""Addresses that no link leads to: whatever is typed there, the answer is a page, never a fault of ours."""

import re
from collections.abc import Iterator

import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from purchases.states import Status
from tests.core.helpers import has_id
from tests.factories import make_order

pytestmark = pytest.mark.django_db

PARAMETER = re.compile(r"<(\w+):\w+>")
USUAL = {"int": "1", "uuid": "00000000-0000-4000-8000-000000000000", "str": "x"}


def addresses(resolver: URLResolver | None = None, before: str = "/") -> Iterator[str]:
    """Every address as the URL configuration writes it, e.g. /orders/<str:ref_id>/live/."""
    for entry in (resolver or get_resolver()).url_patterns:
        whole = f"{before}{entry.pattern}"
        if isinstance(entry, URLResolver):
            yield from addresses(entry, whole)
        elif isinstance(entry, URLPattern) and "\0" not in whole:
            yield whole


WITH_TEXT = [address for address in addresses() if "<str:" in address]
PLAIN = [address for address in addresses() if "<" not in address and "logout" not in address]


def filled(address: str, text: str) -> str:
    """The address with `text` for each parameter that takes any text."""
    return PARAMETER.sub(lambda found: text if found[1] == "str" else USUAL[found[1]], address)


@pytest.mark.parametrize("address", WITH_TEXT)
def test_a_nul_in_a_path_leads_nowhere(address, admin):
    for text in ("%00", "x%00y"):
        assert admin.get(filled(address, text)).status_code == 404
        assert admin.post(filled(address, text)).status_code == 404


@pytest.mark.parametrize("address", PLAIN)
def test_a_nul_in_a_query_is_no_fault(address, admin):
    names = ("q", "status", "state", "brand", "category", "product", "destination", "kind", "since", "until", "day")
    more = ("older", "newer", "page", "seen", "watched", "bill", "customer", "next", "delay", "zone", "paper")

    answer = admin.get(address, dict.fromkeys((*names, *more), "a\0b"))

    assert answer.status_code < 500


@pytest.mark.parametrize("query", ["q=%00", "q=%%0000", "%00=x", "q=a%00b&q=c"])
def test_no_spelling_of_a_nul_reaches_a_query(query, admin):
    assert admin.get(f"/customers/?{query}").status_code == 200


@pytest.mark.parametrize("address", [address for address in addresses() if "<int:" in address])
def test_a_number_too_large_for_any_row_leads_nowhere(address, admin):
    answer = admin.get(PARAMETER.sub(lambda found: "9" * 30 if found[1] == "int" else USUAL[found[1]], address))

    assert answer.status_code in {404, 405}


@pytest.mark.parametrize("name", ["since", "until"])
@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01", "2026-02-30", "yesterday"])
def test_a_day_that_no_order_can_be_of_is_named_and_left_out(name, day, cashier):
    order = make_order(Status.SUCCESS)

    answer = cashier.get("/orders/", {name: day})

    assert answer.status_code == 200
    assert has_id(answer, "filter-faults")
    assert f"/orders/{order.ref_id}/" in answer.content.decode()
