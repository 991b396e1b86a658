"""`reconcile` and `buy` against the sandbox over HTTP, and orders that wait for a top-up."""

import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from catalogue.models import Product
from purchases.models import Order
from purchases.services import submit
from purchases.services.polling import follow
from purchases.services.waiting import queue_waiting_orders
from purchases.states import Status
from tests.conftest import Upstream
from tests.reconciliation.helpers import OPENING, buy, reconcile, spend_in_dashboard
from upstream.budget import CallClass
from upstream.client import get_client


def test_the_command_is_refused_above_the_balance_or_waits_for_a_top_up(shop: Upstream, capsys: Any):
    spend_in_dashboard(shop, -(OPENING - 500))
    reconcile()
    product = Product.objects.get(name="Telkomsel 10.000")
    arguments = ("buy", "--product", product.code, "--destination", "081290000001", "--json")

    with pytest.raises(CommandError, match="Rp500"):
        call_command(*arguments)
    assert not Order.objects.exists()
    with pytest.raises(SystemExit) as ended:
        call_command(*arguments, "--wait-for-topup")

    order = Order.objects.get()
    assert (ended.value.code, order.status, order.action_reason) == (3, "needs_action", "balance_short")
    assert shop.calls(order) == []
    shop.control("topup", amount=50_000)
    reconcile()
    order.refresh_from_db()
    assert (order.status, order.events.count()) == (Status.QUEUED, 2)
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    assert follow(order, seconds=10).status == Status.SUCCESS


def test_reconcile_prints_one_object_and_exits_with_the_state(shop: Upstream, capsys: Any):
    def run() -> tuple[int, dict[str, Any]]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            call_command("reconcile", "--json")
        return int(str(ended.value.code)), json.loads(capsys.readouterr().out)

    code, facts = run()
    assert (code, facts["state"], facts["difference"], facts["differences"]) == (0, "balanced", 0, [])

    spend_in_dashboard(shop, -1)
    code, facts = run()

    assert (code, facts["state"], facts["difference"]) == (1, "unexplained", -1)
    assert (facts["reported"], facts["expected"]) == (OPENING - 1, OPENING)
    assert [difference["amount"] for difference in facts["differences"]] == [-1]


def test_a_silent_upstream_keeps_the_last_comparison_and_says_so(shop: Upstream, settings: Any, capsys: Any):
    settings.UPSTREAM_BASE_URL = "http://127.0.0.1:9"
    get_client().budget.declare_fresh()

    with pytest.raises(SystemExit) as ended:
        call_command("reconcile", "--wait", "0")

    out = capsys.readouterr()
    assert (ended.value.code, out.out) == (3, "waiting: Rp0\n")
    assert "could not be read" in out.err


def test_what_the_upstream_finds_short_waits_for_a_newer_balance(shop: Upstream):
    order = buy(20, wait_for_topup=True)
    assert (order.status, order.action_reason) == ("needs_action", "balance_short")
    assert queue_waiting_orders() == 0
    shop.control("topup", amount=50_000)

    reconcile()

    order.refresh_from_db()
    assert order.status == Status.QUEUED
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    assert follow(order, seconds=10).status == Status.SUCCESS
