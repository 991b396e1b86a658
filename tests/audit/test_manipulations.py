"""Ten manipulations by a database superuser, in a shop that goes on selling: each is named by table and id."""

import json
import threading
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections

from approvals import services as approvals
from audit.services import record
from exports.events import EXPORT_MADE
from purchases.models import Order
from testing.callbacks import body_for, post
from testing.database import tamper
from tests.audit.helpers import hired, newest, recompute_everything, seal_all, sold

pytestmark = pytest.mark.django_db(transaction=True)

_AGAIN = (
    "INSERT INTO {0} SELECT (jsonb_populate_record(NULL::{0}, to_jsonb(old) || jsonb_build_object({1}))).* FROM old"
)
_PAST = 999_999_999

# Each manipulation of a row, and the result of a verification.
OF_A_ROW = {
    "edit a price": ("purchases_order", "UPDATE {table} SET price = price + 1 WHERE id = {id}", "live_changed"),
    "edit an SN": ("purchases_order", "UPDATE {table} SET sn = 'another' WHERE id = {id}", "live_changed"),
    "edit who placed it": ("purchases_order", "UPDATE {table} SET placed_by_id = {person} WHERE id = {id}",
                           "live_changed"),
    "delete an entry": ("ledger_entry", "DELETE FROM {table} WHERE id = {id}", "deleted"),
    "insert an entry into the past": (
        "ledger_entry", "WITH old AS (SELECT * FROM {table} WHERE id = {id}) "
        + _AGAIN.format("{table}", f"'id', {_PAST}, 'ref_id', 'FALSE'"), "not_sealed"),
    "edit an event": ("audit_auditevent", "UPDATE {table} SET address = 'another' WHERE id = {id}", "changed"),
    "insert a callback again": (
        "callbacks_callback", "WITH old AS (DELETE FROM {table} WHERE id = {id} RETURNING *) "
        + _AGAIN.format("{table}", "'body', body || ' ', 'content_hash', encode(sha256(body || ' '), 'hex')"),
        "live_changed"),
    "edit an approval": ("approvals_approval", "UPDATE {table} SET reason = 'another' WHERE id = {id}",
                         "live_changed"),
}  # fmt: skip
OF_THE_TREE = {
    "cut the tree": ("audit_tile", "DELETE FROM {table} WHERE number = {id} AND level = 0", "cut_off"),
    "compute all again with the key": ("purchases_orderevent", "UPDATE {table} SET note = 'another' WHERE id = {id}",
                                       "outside_changed"),
}  # fmt: skip


def one_of_each() -> None:
    """A row of each kind."""
    cashier = hired("cashier")
    order = sold(4)[1]
    post(body_for(order))
    record(EXPORT_MADE, actor=cashier, subject="orders")
    approvals.ask("order", subject="one", content={"price": 1, "payment": {"shift": None}}, actor=cashier)


@pytest.fixture
def yesterday(sealed_once: Any, outside: Path, tmp_path: Path) -> Path:
    """A shop with a row of each kind, sealed; its file of checkpoints as it was then."""
    sealed_once("one of each", one_of_each)
    (tmp_path / "yesterday").write_text(outside.read_text())
    return tmp_path / "yesterday"


@pytest.fixture
def busy(yesterday: Any) -> Iterator[list[Order]]:
    """Have the shop sell meanwhile; returns its orders."""
    ended, orders = threading.Event(), []

    def sell() -> None:
        try:
            orders.extend(sold())
            while not ended.wait(0.1):
                orders.extend(sold())
        finally:
            connections.close_all()

    thread = threading.Thread(target=sell)
    thread.start()
    yield orders
    ended.set()
    thread.join()
    assert orders


def verified(checkpoints: Any) -> list[tuple[str, str, Any]]:
    """The flaws that the command names."""
    out, code = StringIO(), 0
    try:
        call_command("verify_audit", "--json", "--checkpoint", str(checkpoints), stdout=out)
    except CommandError as error:
        code = error.returncode
    result = json.loads(out.getvalue())
    assert result["sound"] == (code == 0)
    return [(flaw["reason"], flaw.get("table", ""), flaw.get("id")) for flaw in result["flaws"]]


def test_manipulations_of_a_busy_shop_are_named(yesterday, busy):
    sold()
    seal_all()
    assert verified(yesterday) == []

    expected, person = set(), newest("staff_user")
    for nth, (name, (table, statement, reason)) in enumerate(OF_A_ROW.items()):
        key = old(table, nth % 4)
        assert tamper(statement.format(table=table, id=key, person=person)) == 1, name
        expected.add((reason, table, _PAST if reason == "not_sealed" else key))
    assert len(expected) == len(OF_A_ROW)
    sold()

    flaws = verified(yesterday)
    assert (len(flaws), set(flaws)) == (len(expected), expected)


@pytest.mark.parametrize("name", OF_THE_TREE)
def test_manipulation_of_the_tree_of_a_busy_shop_is_named(yesterday, busy, name):
    table, statement, reason = OF_THE_TREE[name]
    key = newest(table, "number") if table == "audit_tile" else old(table, 0)
    sold()
    seal_all()
    assert verified(yesterday) == []

    assert tamper(statement.format(table=table, id=key)) == 1
    if reason.startswith("outside"):
        recompute_everything()
    sold()

    first, *others = verified(yesterday)
    assert first == (reason, table, key)
    # a tree that was cut off differs from yesterday's, too
    assert [reason for reason, *_ in others] == (["outside_missing"] if reason == "cut_off" else [])


def old(table: str, nth: int) -> int:
    """The key of one of the first rows, which the shop does not touch again."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id FROM {table} ORDER BY id LIMIT %s", [nth + 1])
        return int(cursor.fetchall()[-1][0])
