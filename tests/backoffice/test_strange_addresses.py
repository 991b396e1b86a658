"""Addresses without a link to them, and forms that no page has: the answer is a page, never a fault of ours."""

import re
from collections.abc import Iterator
from itertools import cycle, product
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from approvals.models import Approval
from purchases.models import Order
from purchases.states import Status
from testing.factories import make_check, make_order, make_product
from testing.orders import NUMBER, review
from testing.people import make_person
from tests.approvals.helpers import ask_purchase, cashier as asker
from tests.branches.helpers import make_branch
from tests.core.helpers import has_id, hidden
from tests.roles.helpers import stay

pytestmark = pytest.mark.django_db

PARAMETER = re.compile(r"<(\w+):\w+>")
USUAL = {"slug": "refund", "int": "1", "uuid": "00000000-0000-4000-8000-000000000000", "str": "x"}


def addresses(resolver: URLResolver | None = None, before: str = "/") -> Iterator[str]:
    """Every address as the URL configuration writes it, e.g. /orders/<str:ref_id>/live/."""
    for entry in (resolver or get_resolver()).url_patterns:
        whole = f"{before}{entry.pattern}"
        if isinstance(entry, URLResolver):
            yield from addresses(entry, whole)
        elif isinstance(entry, URLPattern) and "\0" not in whole:
            yield whole


def filled(address: str, text: str) -> str:
    """The address with `text` for each parameter that takes any text."""
    return PARAMETER.sub(lambda match: text if match[1] == "str" else USUAL[match[1]], address)


def statuses_of(paths: list[str], *methods: str) -> dict[tuple[str, str], int]:
    """The status that an owner gets at each path. One session for all: a sign-in takes longer than an answer."""
    client, owner = Client(), make_person("admin")
    statuses = {}
    for way in product(methods, paths):
        stay(client, owner)
        statuses[way] = client.generic(*way).status_code
    return statuses


def test_a_nul_in_a_path_leads_nowhere():
    takes_text = [address for address in addresses() if "<str:" in address]
    paths = [filled(address, text) for address, text in zip(takes_text, cycle(("%00", "x%00y")), strict=False)]
    statuses = statuses_of(paths, "GET", "POST")

    assert len(statuses) > 50
    assert {way: status for way, status in statuses.items() if status != 404} == {}


def test_a_nul_in_a_query_is_no_fault():
    names = ("q", "status", "state", "brand", "category", "product", "destination", "kind", "since", "until", "day")
    more = ("older", "newer", "page", "seen", "watched", "bill", "customer", "next", "delay", "zone", "paper")
    plain = [address for address in addresses() if "<" not in address and "logout" not in address]
    query = urlencode(dict.fromkeys((*names, *more), "a\0b"))
    statuses = statuses_of([f"{address}?{query}" for address in plain], "GET")

    assert len(statuses) > 100
    assert {way: status for way, status in statuses.items() if status >= 500} == {}


def test_no_spelling_of_a_nul_reaches_a_query(admin):
    for query in ("q=%00", "q=%%0000", "%00=x", "q=a%00b&q=c"):
        assert admin.get(f"/customers/?{query}").status_code == 200, query

    # in a cookie it is nobody's session
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = "aaaaaaaa\0"
    assert client.get("/").status_code == 302


def test_a_number_too_large_for_any_row_leads_nowhere():
    large = [
        PARAMETER.sub(lambda match: "9" * 30 if match[1] == "int" else USUAL[match[1]], address)
        for address in addresses()
        if "<int:" in address
    ]
    statuses = statuses_of(large, "GET")

    assert len(statuses) > 50
    assert {way: status for way, status in statuses.items() if status not in {404, 405}} == {}


def test_a_number_in_a_query_that_is_too_large_for_any_row_is_no_fault(admin):
    make_branch()

    for address in ("/orders/prints/?prints=", "/shifts/days/2026-11-20/?branch="):
        for digits in (30, 5_000):
            assert admin.get(address + "9" * digits).status_code < 500, (address, digits)


def test_a_day_that_no_order_can_be_of_is_named_and_left_out(cashier):
    order = make_order(Status.SUCCESS)

    for way in product(("since", "until"), ("9999-12-31", "0001-01-01", "2026-02-30", "yesterday")):
        answer = cashier.get("/orders/", dict([way]))
        assert (answer.status_code, has_id(answer, "filter-faults")) == (200, True), way
        assert f"/orders/{order.ref_id}/" in answer.content.decode(), way


def test_a_nul_in_a_form_is_no_fault(admin):
    approval = ask_purchase(asker(own_approval_above=1), NUMBER)
    check = make_check()
    pays = {"amount": check.total, "fee": "0", "reason": "a\0b"}
    forms = [("/counter/send/", {"product": "a\0b"}), ("/counter/check/", {"product": "a\0b", "q": "a\0b"})]
    forms += [(f"{way}/{check.ref_id}/pay/", pays) for way in ("/bills", "/counter/bills")]
    forms += [(f"/approvals/{approval.pk}/refuse/", {"reason": "a\0b"})]

    for path, typed in forms:
        assert admin.post(path, typed).status_code < 500

    assert Approval.objects.get(pk=approval.pk).decision_reason == "a\ufffdb"


def test_an_amount_that_nobody_has_is_no_fault(admin):
    for typed in ["9" * 40, "9" * 16, "-1", "1e5", "\u0663" * 4]:
        check, product = make_check(), make_product()
        seen = hidden(review(admin, product))
        pays = {"amount": check.total, "fee": "0"}
        forms = [("/counter/send/", {**seen, "confirm": "1", "price": typed})]
        for way in ("/bills", "/counter/bills"):
            forms += [(f"{way}/{check.ref_id}/pay/", {**pays, name: typed}) for name in pays]

        for path, fields in forms:
            assert admin.post(path, fields).status_code < 500, typed

        assert not Order.objects.exists(), typed


def test_more_data_than_anybody_sells_is_no_fault(admin):
    make_product()

    for path in ["/products/", "/counter/", "/counter/review/"]:
        for typed in (f"{'9' * 30}gb", f"{'9' * 40}mb", f"{NUMBER} d {'9' * 40}gb", f"{'9.' * 20}9 gb"):
            assert admin.get(path, {"q": typed}).status_code < 500, path
