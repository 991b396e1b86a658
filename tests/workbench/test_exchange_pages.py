"""The pages about exchanges: found by every filter, shown whole, and only to people with the right."""

from typing import Any

import pytest
from django.test import Client

from gateway.models import Exchange
from gateway.services import call
from testing.database import statements
from testing.factories import make_order
from tests.conftest import Upstream
from tests.gateway.helpers import kept_exchange, read_balance
from upstream import requests
from upstream.errors import Rejected


def exchanges_for(browser: Client, **query: Any) -> set[int]:
    """The keys of the exchanges that the list shows."""
    page = browser.get("/exchanges/", query)
    assert page.status_code == 200
    return {exchange.pk for exchange in page.context["table"].rows}


def test_each_filter_finds_its_exchanges(auditor: Client):
    sold = kept_exchange("R1", endpoint="transaction_create", trx_id="TRX1")
    refused = kept_exchange("R1", endpoint="transaction_status", error="Rejected: TRANSACTION_NOT_FOUND")
    lost = kept_exchange("R2", endpoint="bill_pay", error="OutcomeUnknown: timeout")
    balance = read_balance(1_000)

    assert exchanges_for(auditor) == {sold.pk, refused.pk, lost.pk, balance.pk}
    assert exchanges_for(auditor, endpoint="balance") == {balance.pk}
    assert exchanges_for(auditor, outcome="error") == {refused.pk, lost.pk}
    assert exchanges_for(auditor, outcome="answer") == {sold.pk, balance.pk}
    assert exchanges_for(auditor, error="OutcomeUnknown: timeout") == {lost.pk}
    assert exchanges_for(auditor, endpoint="bill_pay", error="Rejected: TRANSACTION_NOT_FOUND") == set()
    assert exchanges_for(auditor, q=" r1 ") == {sold.pk, refused.pk}
    assert exchanges_for(auditor, until="2020-01-01") == set()


def test_an_order_is_found_by_its_trx_id(auditor: Client):
    order = make_order(trx_id="TRX77")
    exchange = kept_exchange(order.ref_id, endpoint="transaction_create")

    assert exchanges_for(auditor, q="trx77") == {exchange.pk}


def test_one_exchange_shows_both_sides_masked(upstream: Upstream, auditor: Client):
    with pytest.raises(Rejected):
        call(requests.bill_inquiry(ref_id="NOBILL", product_code="NONE", destination="123456"))
    exchange = Exchange.objects.get(ref_id="NOBILL")

    with statements() as asked:
        page = auditor.get(f"/exchanges/{exchange.pk}/")
    shown = page.content.decode()
    assert page.context["asked"].startswith("POST /v1/bill/inquiry")
    assert '"signature": "***"' in page.context["asked"]
    assert '"error_code": "PRODUCT_NOT_FOUND"' in page.context["answered"]
    assert upstream.process.secret_key not in shown
    assert len(asked) <= 10


def test_of_a_balance_the_page_shows_size_and_digest(upstream: Upstream, auditor: Client):
    call(requests.balance())
    exchange = Exchange.objects.get(endpoint="balance")

    page = auditor.get(f"/exchanges/{exchange.pk}/").content.decode()
    assert exchange.raw["sha256"] in page


def test_the_list_takes_few_queries(auditor: Client):
    for number in range(60):
        kept_exchange(f"R{number}")
    auditor.get("/exchanges/")
    with statements() as asked:
        auditor.get("/exchanges/")
    assert len(asked) <= 10
