"""The metrics for Prometheus, and the people and programs that may read them."""

import datetime as dt

import pytest
from django.utils import timezone
from prometheus_client.mmap_dict import MmapedDict, mmap_key

from callbacks.models import Callback
from purchases.states import Status
from testing.factories import make_order
from tests.ledger.helpers import open_books

pytestmark = pytest.mark.django_db


def numbers(answer) -> dict[str, float]:
    lines = [line for line in answer.content.decode().splitlines() if line and not line.startswith("#")]
    return {name: float(value) for name, _space, value in (line.rpartition(" ") for line in lines)}


def test_the_shop_is_counted(client):
    open_books(1_000_000)
    make_order(Status.PENDING)
    make_order(Status.PENDING)
    make_order(Status.SUCCESS)
    received = timezone.now() - dt.timedelta(minutes=5)
    Callback.objects.create(body=b"{}", content_hash="x", is_signed=True, headers={}, received_at=received)

    metrics = numbers(client.get("/metrics"))

    assert metrics['backoffice_open_orders{status="pending"}'] == 2
    assert metrics['backoffice_open_orders{status="queued"}'] == 0
    assert 'backoffice_open_orders{status="success"}' not in metrics
    assert metrics["backoffice_callbacks_waiting"] == 1
    assert 299 <= metrics["backoffice_oldest_callback_seconds"] < 400
    assert metrics["backoffice_balance_rupiah"] == 1_000_000
    assert metrics["backoffice_last_compared_seconds"] < 60
    assert 0 <= metrics["backoffice_budget_used"] <= metrics["backoffice_budget_limit"]
    assert metrics['backoffice_process_silent{process="beat"}'] in {0, 1}


def test_pages_are_timed_by_their_names(client, cashier):
    cashier.get("/orders/?q=081234567890")

    metrics = client.get("/metrics").content.decode()

    assert 'backoffice_page_seconds_count{method="GET",page="order_list",status="200"}' in metrics
    assert "081234567890" not in metrics


def test_what_other_launchers_of_the_machine_measured_is_added(client, tmp_path, monkeypatch):
    # given a launcher for the web and one for the workers, in folders of their own
    for role, calls in (("web", 1), ("worker", 2)):
        folder = tmp_path / role / "metrics"
        folder.mkdir(parents=True)
        count = MmapedDict(str(folder / f"counter_{calls}.db"))
        count.write_value(mmap_key("calls", "calls_total", [], [], "Calls."), calls, 0.0)
        count.close()
    monkeypatch.setenv("METRICS_FILES", str(tmp_path / "*" / "metrics" / "*.db"))

    metrics = numbers(client.get("/metrics"))

    assert metrics["calls_total"] == 3


def test_without_a_token_nobody_elsewhere_reads_them(client):
    for header in ("X-Forwarded-For", "Forwarded"):
        assert client.get("/metrics", headers={header: "127.0.0.1"}).status_code == 403, header
    assert client.get("/metrics", REMOTE_ADDR="203.0.113.7").status_code == 403
    # a name that leads here
    for host in ("elsewhere.example.com", "[::1", "a b", ""):
        answer = client.get("/metrics", headers={"Host": host}, SERVER_NAME="waitress.invalid")
        assert answer.status_code == 403, host


def test_this_machine_reads_them_without_tls_where_pages_take_it(client, settings):
    settings.SECURE_SSL_REDIRECT, settings.ALLOWED_HOSTS = True, ["backoffice.example.com"]

    for host in ("127.0.0.1:8000", "localhost", "[::1]:8000"):
        assert client.get("/metrics", headers={"Host": host}).status_code == 200, host


def test_with_a_token_prometheus_reads_them_in_the_shops_network(client, settings):
    settings.SECURE_SSL_REDIRECT, settings.ALLOWED_HOSTS = True, ["backoffice.example.com"]
    settings.METRICS_TOKEN = "a-token"

    answer = client.get(
        "/metrics", headers={"Host": "10.0.0.11:8000", "Authorization": "Bearer a-token"}, REMOTE_ADDR="10.0.0.9"
    )

    assert answer.status_code == 200
    assert "backoffice_open_orders" in answer.content.decode()


def test_with_a_token_only_its_bearer_reads_them(client, settings):
    settings.METRICS_TOKEN = "a-token"

    given = {"": 403, "Bearer wrong": 403, "Bearer é": 403, "Bearer a-token": 200}

    for header, status in given.items():
        answer = client.get("/metrics", headers={"Authorization": header}, REMOTE_ADDR="203.0.113.7")
        assert answer.status_code == status, header
