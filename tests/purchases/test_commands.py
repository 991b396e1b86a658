"""The commands use the same services as the pages, print JSON for programs; their exit code gives the state."""

import json
import re

import pytest
from django.db import OperationalError
from django.utils import timezone
from psycopg import errors

from catalogue.models import CatalogueSync, Product, SyncFault
from gateway.models import UpstreamAccount
from purchases.states import Status
from testing.factories import make_order
from testing.orders import FIELDS
from tests.conftest import Upstream
from tests.core.helpers import run
from tests.gateway.helpers import read_balance
from upstream.client import get_client


def test_buy_prints_one_json_object_and_exits_with_the_state(upstream: Upstream):
    product = Product.objects.get(name="Telkomsel 10.000")
    for number, status, code, wait in (
        ("01", "success", 0, "--wait=10"),
        ("03", "pending", 3, "--wait=0.5"),
        ("20", "needs_action", 3, "--wait=10"),
        ("15", "pending", 3, "--wait=0"),
    ):
        exit_code, out = run("buy", f"--product={product.code}", f"--destination=0812900000{number}", wait, "--json")

        facts = json.loads(out)
        assert set(facts) == FIELDS, number
        assert (facts["status"], exit_code) == (status, code), number
        assert (facts["kind"], facts["product_code"], facts["price"]) == ("purchase", product.code, product.price)
        assert out.count("\n") == 1, number


@pytest.mark.django_db
def test_order_shows_one_and_exits_with_its_state():
    success = make_order(Status.SUCCESS, sn="SN-1", price=10_500)
    unknown = make_order(Status.UNKNOWN, destination="081200000001")

    code, out = run("order", success.ref_id, "--json")
    assert (code, json.loads(out)["sn"]) == (0, "SN-1")
    assert run("order", unknown.ref_id, "--json")[0] == 3
    assert run("order", "never-seen")[0] == 1
    for status in ("failed", "rejected", "cancelled", "closed", "reversed"):
        code, out = run("order", make_order(Status(status)).ref_id, "--json")
        assert (code, json.loads(out)["status"]) == (1, status)


@pytest.mark.django_db
def test_orders_lists_json_lines_newest_first_by_status_and_time():
    old = make_order(Status.SUCCESS, created_at="2026-08-01T10:00:00+07:00")
    new = make_order(Status.SUCCESS, destination="081200000001", created_at="2026-08-02T10:00:00+07:00")
    make_order(Status.UNKNOWN, destination="081200000002", created_at="2026-08-02T11:00:00+07:00")

    code, out = run("orders", "--status=success", "--json")
    listed = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [row["ref_id"] for row in listed] == [new.ref_id, old.ref_id]
    assert set(listed[0]) == FIELDS | {"created_at"}

    _, out = run("orders", "--since=2026-08-02T10:30:00+07:00", "--json")
    assert len(out.splitlines()) == 1
    assert run("orders", "--since=yesterday")[0] == 2


def test_sync_catalogue_prints_counts_or_fails_in_one_sentence(upstream: Upstream, settings):
    code, out = run("sync_catalogue", "--json")
    assert (code, json.loads(out)["products"]) == (0, Product.objects.count())

    settings.UPSTREAM_BASE_URL = "http://127.0.0.1:9"
    get_client().budget.declare_fresh()
    code, sentence = run("sync_catalogue", "--json")
    assert code == 1
    assert "last good" in sentence
    assert run("sync_catalogue", "--if-empty")[0] == 0


@pytest.mark.django_db
def test_a_start_says_what_to_correct_when_the_account_was_refused(settings, monkeypatch, capsys):
    settings.UPSTREAM_BASE_URL = "http://127.0.0.1:9/refuses-us"
    monkeypatch.setattr("gateway.services.calling._PATIENCE_SECONDS", 0.0)
    UpstreamAccount.objects.update_or_create(
        only=True, defaults={"refused_since": timezone.now(), "refused_code": "INVALID_SIGNATURE"}
    )

    code, _out = run("sync_catalogue", "--if-empty")

    sentence = capsys.readouterr().err
    assert (code, "CommandError" in sentence) == (3, False)
    assert "INVALID_SIGNATURE" in sentence
    assert "UPSTREAM_SECRET_KEY" in sentence


@pytest.mark.django_db
def test_a_new_redis_says_when_the_catalogue_can_be_fetched(settings, monkeypatch, capsys):
    settings.UPSTREAM_BASE_URL = "http://127.0.0.1:9/nobody-asked-here-before"
    monkeypatch.setattr("gateway.services.calling._PATIENCE_SECONDS", 0.0)
    for balance, is_first_minute in ((None, True), (5_000, False)):
        if balance:
            read_balance(balance)

        code, _out = run("sync_catalogue")

        sentence = capsys.readouterr().err
        assert (code, "first minute" in sentence, "CommandError" in sentence) == (3, is_first_minute, False)
        assert re.search(r"\b\d\d:\d\d:\d\d WIB\b", sentence)
        assert CatalogueSync.objects.latest("pk").fault == SyncFault.RATE_LIMIT


@pytest.mark.django_db
def test_a_database_that_is_away_is_one_sentence_and_a_lock_that_another_holds_is_another(monkeypatch):
    def fails(*_args, **_facts):
        raise fault from cause

    monkeypatch.setattr("purchases.models.orders.OrderQuerySet.order_by", fails)

    fault, cause = OperationalError("connection refused\nIs the server running?"), None
    code, sentence = run("orders", "--json")
    assert (code, "\n" in sentence) == (1, False)
    assert "is it running? It says: connection refused" in sentence

    fault, cause = OperationalError("canceling statement due to lock timeout"), errors.LockNotAvailable()
    code, sentence = run("orders", "--json")
    assert (code, "lock timeout" in sentence, "running" in sentence) == (1, True, False)
