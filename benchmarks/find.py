"""Measures "find anything" among many orders, hit or not, and checks that no plan reads a large table whole.

    DATABASE_URL=… REDIS_URL=… python benchmarks/find.py [--orders 10000000] [--rounds 40]

It makes the database `find_<orders>` on the server of DATABASE_URL and keeps it for the next run: a year of 200,000
orders by `history.py`; SQL copies the ended ones, each with numbers, SN and names of its own. The
copies have no payment and no history: this search reads neither. Each round asks for another order.

The table is Markdown, in milliseconds of the whole answer for an owner. Exit code 1 when a p95 is above 100 ms, or a
plan scans a table of more than 10,000 rows.
"""

import argparse
import gc
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.pages import make_database

MOST_MS, _LARGE, _BASE = 100, 10_000, 200_000
_OWN = {
    "payment_id": "-(o.id * 10000 + c)",
    "ref_id": "left(o.ref_id, 8) || upper(left(md5(o.id || '-' || c), 10))",
    "idempotency_key": "md5(c || '-' || o.id)",
    "trx_id": "CASE WHEN o.trx_id = '' THEN '' ELSE 'TRX' || lpad((o.id * 10000 + c)::text, 14, '0') END",
    "sn": "CASE WHEN o.sn = '' THEN '' ELSE lpad(abs(hashint8extended(o.id, c))::text, 20, '0') END",
    "destination": "CASE WHEN o.destination ~ '^[0-9]{10,}$' THEN left(o.destination, -7)"
    " || lpad((abs(hashint8extended(o.id / 8, c)) %% 10000000)::text, 7, '0') ELSE o.destination END",
}


def main() -> None:
    """Fill the database, ask, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--orders", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=40)
    options = parser.parse_args()
    server, name = os.environ["DATABASE_URL"], f"find_{options.orders}"
    make_database(server, name)
    os.environ["DATABASE_URL"] = urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backoffice.settings")
    os.environ.setdefault("SECRET_KEY", "only-for-benchmarks-" + "x" * 50)
    os.environ |= {"BACKOFFICE_SANDBOX": "1", "ALLOWED_HOSTS": "testserver", "HTTPS": "0", "LOG_LEVEL": "ERROR"}
    import django

    django.setup()
    from django.core.management import call_command

    from benchmarks.pages import fill
    from purchases.models import Order

    call_command("prepare_app", stdout=sys.stderr)
    if Order.objects.order_by("-pk")[:1].count() == 0:
        fill(min(_BASE, options.orders))
        multiply(options.orders)
    sys.exit(0 if measure(options.rounds) else 1)


def multiply(orders: int) -> None:
    """Copy the orders that have ended until there are so many."""
    from django.db import connection, transaction

    from purchases.models import Order
    from purchases.states import FINAL

    ended = Order.objects.filter(status__in=FINAL).count()
    copies = (orders - Order.objects.count()) // ended
    if copies < 1:
        return
    names = [str(field.column) for field in Order._meta.concrete_fields if not field.primary_key]
    values = ", ".join(_OWN.get(name, f"o.{name}") for name in names)
    with transaction.atomic(), connection.cursor() as sql:
        for setting in (
            "statement_timeout = 0",
            "session_replication_role = replica",
            "maintenance_work_mem = '512MB'",
        ):
            sql.execute(f"SET LOCAL {setting}")
        sql.execute(
            "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index"
            " WHERE indrelid = 'purchases_order'::regclass"
            " AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)"
        )
        indexes = sql.fetchall()
        for index, _definition in indexes:
            sql.execute(f"DROP INDEX {index}")
        sql.execute(
            f"INSERT INTO purchases_order ({', '.join(names)}) SELECT {values}"  # noqa: S608 - our own text
            " FROM purchases_order o, generate_series(1, %s) c WHERE o.status = ANY(%s)",
            [copies, sorted(FINAL)],
        )
        for _index, definition in indexes:
            sql.execute(definition)
    with connection.cursor() as sql:
        sql.execute("SET statement_timeout = 0")
        sql.execute("VACUUM ANALYZE purchases_order")
        sql.execute("RESET statement_timeout")


def texts(order: Any, at: int) -> dict[str, str]:
    """The texts that people search one order by, and texts that match nothing."""
    return {
        "full number": order.destination,
        "last 4 digits": order.destination[-4:],
        "last 6 digits": order.destination[-6:],
        "SN": order.sn,
        "ref_id": order.ref_id,
        "trx_id": order.trx_id,
        "name of a customer": f"sari {at}",
        "product": "tsel 10",
        "page": "orders",
        "amount and day": "50 ribu kemarin",
        "amount, week, ending": f"52000 minggu lalu {order.destination[-2:]}",
        "cashier and day": "cashier kemarin",
        "no such number": f"0899{at:08d}",
        "no such end": f"{at:04d}x"[:4] + f"{7_000_000 + at}",
        "no such SN": f"9{at:019d}",
        "no such words": f"qqqq {at}",
        "no such line": f"987.{at + 100} kemarin qris",
    }


def measure(rounds: int) -> bool:
    """Search so many orders in turns; print a line for each way; returns whether all keep within the bounds."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from purchases.models import Order
    from staff.models import User

    browser = Client()
    browser.force_login(User.objects.get(username="owner"))

    def ask(text: str) -> bytes:
        return browser.get("/find/", {"q": text}, headers={"HX-Request": "true"}).content

    last = Order.objects.latest("pk").pk
    step = last // (rounds + 1)
    orders = [Order.objects.filter(pk__lte=last - step * at, sn__gt="").order_by("-pk")[0] for at in range(rounds)]
    ask("warm")
    gc.collect()  # as a web process does before it serves
    gc.freeze()
    times: dict[str, list[float]] = {}
    results: dict[str, int] = {}
    for at, order in enumerate(orders):
        for way, text in texts(order, at).items():
            began = time.perf_counter()
            page = ask(text)
            times.setdefault(way, []).append((time.perf_counter() - began) * 1000)
            results[way] = max(results.get(way, 0), page.count(b"data-found"))
    scanned: dict[str, list[str]] = {}
    for way, text in texts(orders[0], 0).items():
        with CaptureQueriesContext(connection) as queries:
            ask(text)
        scanned[way] = [*scans(connection, queries.captured_queries)]
    print(f"{Order.objects.count():,} orders\n\n| text | results | p50 | p95 | highest | scans |")
    print("|---|---:|---:|---:|---:|---|")
    fits = True
    for way, taken in times.items():
        p95 = statistics.quantiles(taken, n=20)[18]
        fits = fits and p95 <= MOST_MS and not scanned[way]
        print(
            f"| {way} | {results[way]} | {statistics.median(taken):.0f} | {p95:.0f} | {max(taken):.0f}"
            f" | {', '.join(scanned[way]) or 'none'} |"
        )
    return fits


def scans(connection: Any, queries: list[dict[str, str]]) -> Iterator[str]:
    """The large tables that a plan of these statements scans."""
    with connection.cursor() as sql:
        sql.execute("SELECT relname, reltuples FROM pg_class WHERE relkind = 'r'")
        rows = dict(sql.fetchall())
        for query in queries:
            if not query["sql"].startswith(("SELECT", "(SELECT")):
                continue
            sql.execute(f"EXPLAIN (FORMAT JSON) {query['sql']}")
            answer = sql.fetchone()[0]
            for node in nodes((json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"]):
                table = node.get("Relation Name", "")
                if node["Node Type"].endswith("Seq Scan") and rows.get(table, 0) > _LARGE:
                    yield table


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every step of a plan."""
    yield plan
    for part in plan.get("Plans", []):
        yield from nodes(part)


if __name__ == "__main__":
    main()
