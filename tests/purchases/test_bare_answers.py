"""An answer or a callback may lack the texts for people: product name, message and SN. It counts as any other."""

from collections.abc import Iterator
from typing import Any

import pytest

from ledger.models import Entry
from purchases.models import Incident, Order
from purchases.services import poll, submit
from purchases.states import Status
from testing.factories import moves, reported
from testing.orders import place
from tests.ledger.helpers import open_books
from tests.upstream.helpers import success
from tests.upstream.scripted_upstream import ScriptedUpstream
from upstream.budget import CallClass
from upstream.client import get_client

TEXTS = ("product_name", "message", "sn")
CREATE, STATUS = "/v1/transaction/create", "/v1/transaction/status"
INTERACTIVE = CallClass.INTERACTIVE


@pytest.fixture
def scripted(transactional_db: None, settings: Any) -> Iterator[ScriptedUpstream]:
    """An upstream that answers as the test says."""
    server = ScriptedUpstream()
    settings.UPSTREAM_BASE_URL = server.url
    settings.UPSTREAM_SECRET_ID, settings.UPSTREAM_SECRET_KEY = "our-secret-id", "our-very-secret-key"
    get_client().budget.declare_fresh()
    open_books(100_000)
    yield server
    server.stop()


def bare(order: Order, status: str) -> dict[str, Any]:
    """The envelope of a report without its texts."""
    data = reported(order, status).model_dump(mode="json")
    return success({name: value for name, value in data.items() if name not in TEXTS})


def kinds(order: Order) -> list[str]:
    """The entries of the books for this order."""
    return list(Entry.objects.filter(ref_id=order.ref_id).values_list("kind", flat=True))


# `tests/upstream/test_replies.py` reads them absent and null, for each status.
def test_an_answer_without_its_texts_settles_the_sending(scripted: ScriptedUpstream):
    for status, entries in (
        ("pending", ["hold", "release", "debit"]),
        ("success", ["hold", "release", "debit"]),
        ("failed", ["hold", "release", "debit", "refund"]),
    ):
        order = place()
        scripted.requests.clear()
        scripted.answers(200, bare(order, status))

        submit(order.pk, call_class=INTERACTIVE)

        order.refresh_from_db()
        assert (order.status, order.sn, order.message, order.product_name) == (status, "", "", "Telkomsel 10.000")
        assert moves(order) == [("", "queued", "staff"), ("queued", "sending", "submit"), ("sending", status, "submit")]
        assert kinds(order) == entries, status
        assert [request.path for request in scripted.requests] == [CREATE], status
    assert not Incident.objects.exists()


def test_a_status_without_its_texts_settles_an_unknown_order(scripted: ScriptedUpstream):
    order = place()
    scripted.answers(502, b"<html>")
    submit(order.pk, call_class=INTERACTIVE)
    order.refresh_from_db()
    assert order.status == Status.UNKNOWN
    scripted.answers(200, bare(order, "success"))

    poll(order.pk, call_class=INTERACTIVE)

    order.refresh_from_db()
    assert (order.status, order.sn) == ("success", "")
    assert kinds(order) == ["hold", "release", "debit"]
    assert [request.path for request in scripted.requests] == [CREATE, STATUS]


def test_an_answer_without_a_fact_of_the_money_stays_unknown(scripted: ScriptedUpstream):
    for field in ("trx_id", "product_code", "destination", "price", "balance"):
        order = place()
        answer = bare(order, "success")
        del answer["data"][field]
        scripted.requests.clear()
        scripted.answers(200, answer)

        submit(order.pk, call_class=INTERACTIVE)

        order.refresh_from_db()
        assert order.status == Status.UNKNOWN, field
        assert kinds(order) == ["hold"], field
        assert [request.path for request in scripted.requests] == [CREATE], field
