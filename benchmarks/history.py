"""Fill a sandbox's shop with a year of orders: one morning by the real services, multiplied by SQL.

    python benchmarks/history.py [--orders 1000000] [--seed 1]

It fills the demo of `./run --empty` (`.data`, or the folder that BACKOFFICE_DATA names), which must not be running;
with DATABASE_URL, REDIS_URL and SANDBOX_URL those instead, as the owner of the tables. The books are proved at its end.

Each copy of the morning (`morning.py`) begins and ends with the same balance, so that entries need no new sums; it gets
ids, numbers, ref_ids, destinations and times of its own, stretched over its part of the year. Exchanges and bodies of
callbacks older than 90 days are missing, as in a shop. Copied rows have no history and were never sealed: the audit
knows (`Sealing.made_up`).
"""

import argparse
import datetime as dt
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import parse_qs, urlsplit

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Ids of each table, and numbers, that are set aside for one morning.
_STRIDE = 6_000
YEAR = 365  # days
KEPT = 90  # days of exchanges, and of the bodies of callbacks: the policies' first values
_AT_ONCE = 500
_LETTERS = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_SETTINGS = {"statement_timeout": "0", "lock_timeout": "10s", "maintenance_work_mem": "256MB", "work_mem": "256MB"}
# The values that must differ between two copies, by the name of their column (`{c}`); `s` is the copy.
_NAMED = "regexp_replace({c}, 'B[0-9]{{6}}-[2-9A-Z]{{4}}([2-9A-Z]{{6}})', s.day || '\\1' || s.code, 'g')"
_BODY = "convert_to(" + _NAMED.replace("{c}", "convert_from(t.body, 'UTF8')") + ", 'UTF8')"
_FORGOTTEN = f"s.days > {KEPT}"
_OTHERS = {
    "ref_id": "CASE WHEN {c} = '' THEN '' ELSE s.day || right({c}, 6) || s.code END",
    "idempotency_key": "CASE WHEN {c} LIKE 'bill-%%' THEN 'bill-' || s.day || right({c}, 6) || s.code"
    " ELSE md5({c} || s.number) END",
    "trx_id": "CASE WHEN {c} = '' THEN '' ELSE 'TRX' || lpad(s.number::text, 7, '0') || right({c}, 5) END",
    "sn": "CASE WHEN {c} = '' THEN '' ELSE overlay({c} PLACING lpad(s.number::text, 7, '0') FROM 1) END",
    "destination": "CASE WHEN right({c}, 4) ~ '^[0-9]{{4}}$' THEN left({c}, -4) ||"
    " lpad(((right({c}, 4)::int + s.number * 7919) %% 10000)::text, 4, '0') ELSE {c} END",
    "name": "{c} || ' ' || s.number",
    "customer_name": "CASE WHEN {c} = '' THEN '' ELSE {c} || ' ' || s.number END",
    "delivery_id": "md5({c} || s.number)::uuid::text",
    "token": "md5({c}::text || s.number)::uuid",
    "raw": _NAMED.replace("({c},", "({c}::text,").replace("'g')", "'g')::jsonb"),
    "body_gone_at": f"CASE WHEN {_FORGOTTEN} THEN %(ended)s END",
    "body": f"CASE WHEN {_FORGOTTEN} THEN '' ELSE {_BODY} END",
    "content_hash": f"encode(sha256({_BODY}), 'hex')",
    "txid": "0",  # of no transaction
}
# Keys of rows that are copied, too, without a foreign key.
_KEYS = {"callback_id", "buyer"}
_MOMENT = "s.start + %(stretch)s * (LEAST(GREATEST({c}, %(began)s), %(ended)s) - %(began)s)"
_MOMENT += " + ({c} - LEAST(GREATEST({c}, %(began)s), %(ended)s))"
_DAY = "(closed_at AT TIME ZONE 'Asia/Jakarta')::date"
_DAYS_OF_SHIFTS = f"""
    INSERT INTO drawers_drawerday (day, facts)
    SELECT DISTINCT {_DAY}, '{{}}'::jsonb FROM drawers_shift WHERE closed_at IS NOT NULL ORDER BY 1
        ON CONFLICT (day, branch_id) DO NOTHING;
    UPDATE drawers_shift SET day_id = of_day.id FROM drawers_drawerday of_day
     WHERE of_day.day = {_DAY} AND day_id <> of_day.id
"""  # noqa: S608 - our own text


def seed(orders: int, *, number: int = 1, days: int = YEAR) -> int:
    """Write about so many orders of the last `days`, and return the balance after them (rupiah).

    Raises `Refused` with a real upstream account, while the shop runs, and where there are orders already.
    """
    from django.core.management import call_command

    from backoffice.demo import set_prices
    from benchmarks.morning import ORDERS, Shop, provider_in_process
    from catalogue.models import PriceRule
    from ledger.models import Books
    from staff.models import User

    refuse_unless_possible()
    call_command("sync_catalogue", "--if-empty", stdout=sys.stderr)
    if not PriceRule.objects.exists():
        set_prices(User.objects.get(username="owner"))
    books = Books.objects.filter(only=True, opened_at__isnull=False).first()
    copies = max(-(-orders // ORDERS) - 1, 0)
    with provider_in_process(books.balance if books else 20_000_000) as provider:
        shop = Shop(provider, Random(number))
        floors = set_room_aside(copies)
        began = now()
        shop.live_a_morning()
        multiply(copies, floors, began, now(), over=dt.timedelta(days=days))
        shop.leave_open()
        shop.read()
    return provider.balance


def refuse_unless_possible() -> None:
    """Raise `Refused` where made-up orders have no place."""
    from django.conf import settings

    from core import heartbeats
    from core.errors import Refused
    from purchases.models import Order

    if not settings.SANDBOX:
        raise Refused("This database has a real upstream account: made-up orders are for the sandbox only.")
    if Order.objects.exists():
        raise Refused("There are orders already. Take an empty database (`./run reset`).")
    if running := sorted(heartbeats.read().alive()):
        raise Refused(f"The shop is running ({', '.join(running)}). Stop ./run, wait 15 seconds, and try again.")


def multiplied() -> list[type[Any]]:
    """The models whose rows are copied."""
    from alerts.models import Alert
    from bills.models import BillCheck, Inquiry
    from callbacks.models import Callback
    from catalogue.models import PriceChange
    from complaints.models import Complaint, ComplaintEvent
    from credit.models import CreditAccount, CreditEntry
    from customers.models import Customer, SavedNumber
    from drawers.models import DrawerEntry, Payment, Shift
    from gateway.models import Exchange
    from ledger.models import Entry
    from purchases.models import Order, OrderEvent, Verdict
    from reconciliation.models import Difference, ReconciliationRun

    return [
        *(Customer, SavedNumber, CreditAccount, CreditEntry, Shift, DrawerEntry, Payment, Order, OrderEvent, Verdict),
        *(BillCheck, Inquiry, Callback, Exchange, Entry, ReconciliationRun, Difference, Alert, PriceChange),
        *(Complaint, ComplaintEvent),
    ]


def set_room_aside(copies: int) -> dict[str, int]:
    """Advance each table's ids by those of all copies; returns, by table, the id after which it goes on."""
    floors = {}
    with cursor() as sql:
        for model in multiplied():
            table = model._meta.db_table
            sequence = "gateway_exchange" if table == "ledger_entry" else table  # exchanges and entries have one
            if sequence not in floors:
                sql.execute(f"SELECT nextval(pg_get_serial_sequence('{sequence}', 'id'))")
                floors[sequence] = int(sql.fetchone()[0]) + copies * _STRIDE
                sql.execute(f"SELECT setval(pg_get_serial_sequence('{sequence}', 'id'), {floors[sequence]})")
            floors[table] = floors[sequence]
    return floors


def multiply(
    copies: int, floors: dict[str, int], began: dt.datetime, ended: dt.datetime, *, over: dt.timedelta
) -> None:
    """Copy the rows above the floors into the time `over` before them; correct the rows that hold sums."""
    from django.db.models import Sum

    from audit.models import Checkpoint, Sealing, Tile
    from ledger.models import Books, Entry, Proof, RunningDay
    from ledger.services import close_days
    from reconciliation.models import Reconciliation
    from reconciliation.services import prove

    part = over / max(copies, 1)
    times = {"began": began, "ended": ended, "stretch": part / (ended - began) * 0.99}
    topped_up = Entry.objects.filter(pk__gt=floors["ledger_entry"], kind="topup").aggregate(sum=Sum("amount"))["sum"]
    tables = [model._meta.db_table for model in multiplied()]
    with bulk_load([*tables, Tile._meta.db_table, Checkpoint._meta.db_table]), cursor() as sql:
        make_slots(sql, copies, began, part)
        for model in multiplied():
            table, statement = model._meta.db_table, _copy(model)
            sql.execute(f"SELECT max(id) FROM {table}")  # noqa: S608 - our own names
            assert sql.fetchone()[0] < floors[table] + _STRIDE
            for last in range(copies, 0, -_AT_ONCE):
                first = max(last - _AT_ONCE, 0)
                sql.execute(statement, {**times, "first": first, "last": last, "floor": floors[table]})
        sql.execute(_DAYS_OF_SHIFTS)
        before = began - part * (copies + 1)  # the opening, and the readings of that time
        sql.execute(
            "UPDATE ledger_entry SET at = %s WHERE id < %s", [before, floors["ledger_entry"] - copies * _STRIDE]
        )
        sql.execute(
            "UPDATE gateway_exchange SET sent_at = %s, answered_at = %s WHERE id < %s",
            [before, before, floors["ledger_entry"] - copies * _STRIDE],
        )
        Books.objects.update(opened_at=before)
        row = Reconciliation.objects.get()
        row.outside, row.booked = row.outside + copies * topped_up, row.booked - copies * topped_up
        row.save(update_fields=["outside", "booked"])
        RunningDay.objects.all().delete()
        Proof.objects.all().delete()
        for model in (Tile, Checkpoint):  # the times of sealed rows have changed: the sealer begins again
            model.objects.all().delete()
        facts = {"made_up": True, "size": 0, "published": 0, "key": "", "flaw": None}
        Sealing.objects.update_or_create(only=True, defaults=facts)
    close_days()
    prove(everything=True)


def make_slots(sql: Any, copies: int, began: dt.datetime, part: dt.timedelta) -> None:
    """Make a table of the copies: number, start, days before the morning, the beginning and the end of its ref_ids."""
    columns = "number int, start timestamptz, days int, day text, code text"
    sql.execute(f"CREATE TEMP TABLE slots ({columns}) ON COMMIT DROP")
    with sql.copy("COPY slots FROM STDIN") as copy:
        for number in range(1, copies + 1):
            start, code, rest = began - part * number, "", number
            for _ in range(4):
                rest, letter = divmod(rest, len(_LETTERS))
                code = _LETTERS[letter] + code
            copy.write_row((number, start, (began.date() - start.date()).days, f"B{start:%y%m%d}-", code))
    sql.execute("ANALYZE slots")


def _copy(model: type[Any]) -> str:
    """The statement that copies a model's rows into some slots."""
    moved = {one._meta.db_table for one in multiplied()}
    columns = {field.column: _value(field, moved) for field in model._meta.concrete_fields}
    names, values = ", ".join(f'"{name}"' for name in columns), ", ".join(columns.values())
    kept = f"AND (NOT {_FORGOTTEN} OR t.endpoint = 'balance')" if model._meta.label == "gateway.Exchange" else ""
    return f"""
        INSERT INTO {model._meta.db_table} ({names})
        SELECT {values} FROM slots s CROSS JOIN {model._meta.db_table} t
         WHERE t.id > %(floor)s AND s.number > %(first)s AND s.number <= %(last)s {kept} ORDER BY s.number DESC, t.id
    """  # noqa: S608 - our own names


def _value(field: Any, moved: set[str]) -> str:
    """The SQL of a copy's value in this column."""
    column = f't."{field.column}"'
    related = field.related_model._meta.db_table if field.remote_field else ""
    if related in moved and field.target_field.column == "ref_id":
        return _OTHERS["ref_id"].format(c=column)
    if field.primary_key or related in moved or field.column.endswith("_no") or field.column in _KEYS:
        return f"{column} - s.number * {_STRIDE}::bigint"
    if str(field) == "gateway.Exchange.raw":  # the largest column of all
        return "NULL"
    of_kind = {"DateTimeField": _MOMENT, "DateField": "{c} - s.days"}.get(field.get_internal_type(), "{c}")
    return _OTHERS.get(field.column, of_kind).format(c=column)


@contextmanager
def bulk_load(tables: list[str]) -> Iterator[None]:
    """A transaction that locks these tables and works without their triggers, foreign keys and plain indexes.

    At its end it restores all of them, which checks all rows.
    """
    from django.db import transaction

    foreign_keys = """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
        WHERE contype = 'f' AND (conrelid = ANY(%s::regclass[]) OR confrelid = ANY(%s::regclass[]))
    """
    indexes = """
        SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid), attnum, attstattarget
        FROM pg_index LEFT JOIN pg_attribute ON attrelid = indexrelid AND attstattarget >= 0
        WHERE indrelid = ANY(%s::regclass[]) AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
    """
    with transaction.atomic(), cursor() as sql:
        for name, value in _SETTINGS.items():
            sql.execute(f"SET LOCAL {name} = '{value}'")
        sql.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE")
        sql.execute(foreign_keys, [tables, tables])
        constraints = sql.fetchall()
        sql.execute(indexes, [tables])
        dropped = sql.fetchall()
        for table, name, _definition in constraints:
            sql.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
        for name in {row[0] for row in dropped}:
            sql.execute(f"DROP INDEX {name}")
        for table in tables:
            sql.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        yield
        for definition in {row[1] for row in dropped}:
            sql.execute(definition)
        for name, _definition, column, target in dropped:
            if column:  # how closely PostgreSQL counts the values of an expression
                sql.execute(f"ALTER INDEX {name} ALTER COLUMN {column} SET STATISTICS {target}")
        for table, name, definition in constraints:
            sql.execute(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}')
        for table in tables:
            sql.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        sql.execute(f"ANALYZE {', '.join(tables)}")


def tell_sandbox(balance: int) -> None:
    """Give the sandbox's account the balance of the books."""
    import requests
    from django.conf import settings

    token = parse_qs(urlsplit(settings.SANDBOX_DASHBOARD_URL).query).get("token", [""])[0]
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    address = f"{settings.SANDBOX_URL}/control/account"
    requests.post(address, json={"balance": balance}, headers=headers, timeout=10).raise_for_status()


def now() -> dt.datetime:
    """This moment."""
    return dt.datetime.now(dt.UTC)


def cursor() -> Any:
    """One of the database that the settings name."""
    from django.db import connection

    return connection.cursor()


def main() -> None:
    """Fill the database that the environment names, or that of the demo."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--orders", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    code = f"from benchmarks.history import fill; fill({options.orders}, {options.seed})"
    os.environ["DATABASE_AS_OWNER"] = "1"
    program = [str(ROOT / ("manage.py" if "DATABASE_URL" in os.environ else "run"))]
    words = ["shell", "-c", code] if "DATABASE_URL" in os.environ else ["manage", "shell", "-c", code]
    os.execv(sys.executable, [sys.executable, *program, *words])  # noqa: S606


def fill(orders: int, number: int) -> None:
    """Seed, tell the sandbox, and say how long it took."""
    from core.errors import Refused

    began = time.monotonic()
    try:
        balance = seed(orders, number=number)
    except Refused as refusal:
        sys.exit(str(refusal))
    tell_sandbox(balance)
    print(f"{orders} orders in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
