"""If an owner of the database changes rows directly, `reconcile` never says "balanced", and an alert opens."""

import json
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from alerts.models import Alert
from alerts.services import evaluate_alerts
from catalogue.models import Product
from ledger.models import Entry
from purchases.models import Order
from purchases.services import submit
from purchases.services.polling import follow
from purchases.states import Status
from testing.orders import place
from tests.conftest import Upstream
from upstream.budget import CallClass

CUT, INVENTED, HIDDEN = 100_000, 777_000, 250_000


@pytest.fixture
def sold(upstream: Upstream, settings: Any, capsys: Any) -> list[Order]:
    """Opened books, two charged orders of at least Rp100.000; asserts that the command says "balanced"."""
    settings.UPSTREAM_CONNECT_TIMEOUT = settings.UPSTREAM_READ_TIMEOUT = 2.0
    assert run_reconcile(capsys) == ("balanced", 0)
    product = Product.objects.filter(type="prepaid", availability="active", price__gt=CUT).order_by("price")[0]
    orders = [buy(product, number) for number in range(2)]
    assert run_reconcile(capsys) == ("balanced", 0)
    return orders


def buy(product: Product, number: int) -> Order:
    order = place(product, destination=f"0812{number}9000001")
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    order = follow(order, seconds=10)
    assert order.status == Status.SUCCESS
    return order


def run_reconcile(capsys: Any) -> tuple[str, int]:
    """The output of `./run manage reconcile`, and its exit code."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        call_command("reconcile", "--json", "--wait", "10")
    return json.loads(capsys.readouterr().out)["state"], int(str(ended.value.code))


def tamper(table: str, statement: str, *values: Any) -> None:
    """Run raw SQL as the tables' owner, who can switch their triggers off."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        cursor.execute(statement, values)
        cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def alarm() -> tuple[int, int, str, int | None]:
    """The open alert of wrong books: severity, amount, kind of flaw, first entry."""
    evaluate_alerts()
    alert = Alert.objects.open().get(kind="books_off")
    return alert.severity, alert.facts["amount"], alert.facts["flaw"], alert.facts["entry"]


def test_a_cut_debit_and_an_invented_top_up_alarm(sold: list[Order], capsys: Any):
    debit = Entry.objects.get(ref_id=sold[0].ref_id, kind="debit")
    cut = "UPDATE ledger_entry SET amount = amount - %s, balance_change = balance_change + %s WHERE id = %s"
    tamper("ledger_entry", cut, CUT, CUT, debit.pk)
    tamper(
        "ledger_entry",
        "INSERT INTO ledger_entry (kind, amount, balance_change, reserved_change, balance_after, reserved_after,"
        " ref_id, order_kind, reason, at)"
        " SELECT 'topup', %s, %s, 0, balance + %s, reserved, '', '', '', now() FROM ledger_books",
        *[INVENTED] * 3,
    )
    invented = Entry.objects.get(kind="topup")

    assert run_reconcile(capsys) == ("unexplained", 1)
    assert alarm() == (1, -CUT, "running", debit.pk)
    with pytest.raises(SystemExit):
        call_command("reconcile", "--wait", "0")
    assert f"−Rp100.000  An entry's balance does not follow from the one before (entry {debit.pk} of ledger_entry)" in (
        capsys.readouterr().out
    )

    # The debit is restored: the top-up alone, with a fitting sum in the books, is found, too.
    tamper("ledger_entry", cut, -CUT, -CUT, debit.pk)
    tamper("ledger_books", "UPDATE ledger_books SET balance = balance + %s", INVENTED)

    assert run_reconcile(capsys) == ("unexplained", 1)
    assert alarm() == (1, INVENTED, "unfounded", invented.pk)


def test_two_changed_sums_that_hide_money_alarm(sold: list[Order], upstream: Upstream, capsys: Any):
    newest = Entry.objects.order_by("-pk").values_list("pk", flat=True)[0]
    upstream.control("account", balance=upstream.process.control("ledger")["balance"] - HIDDEN)
    hide = "UPDATE reconciliation_reconciliation SET outside = outside - %s"
    tamper("reconciliation_reconciliation", hide, HIDDEN)
    tamper("ledger_books", "UPDATE ledger_books SET balance = balance - %s", HIDDEN)

    assert run_reconcile(capsys) == ("unexplained", 1)
    assert alarm() == (1, -HIDDEN, "cached", newest)

    # The books' row is restored: the kept row alone is found, too.
    tamper("ledger_books", "UPDATE ledger_books SET balance = balance + %s", HIDDEN)

    assert run_reconcile(capsys) == ("unexplained", 1)
    assert alarm() == (1, HIDDEN, "kept", newest)
