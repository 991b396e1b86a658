"""The alert rules and the dashboard name only metrics of `/metrics`."""

import re
from pathlib import Path

import pytest

from core.measures import CALL_SECONDS, TASK_SECONDS
from testing.factories import make_order
from tests.ledger.helpers import open_books

FILES = Path(__file__).resolve().parents[2] / "deploy" / "prometheus"


@pytest.mark.django_db
def test_given_a_shop_with_orders_then_every_number_that_they_name_is_there(client, cashier):
    # given a shop that has shown a page, made a call and run a task
    open_books(1_000_000)
    make_order("pending")
    cashier.get("/orders/")
    CALL_SECONDS.labels("balance", "answer").observe(0.1)
    TASK_SECONDS.labels("gateway.tasks.read_balance").observe(0.1)

    shown = set(re.findall(r"^(backoffice_\w+)", client.get("/metrics").content.decode(), re.MULTILINE))

    for name in ("alerts.yml", "dashboard.json"):
        named = set(re.findall(r"backoffice_\w+", (FILES / name).read_text()))
        assert named
        assert named <= shown, name
