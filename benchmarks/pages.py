"""Measure every page and every live poll with few and with many orders, side by side, and print how they compare.

    DATABASE_URL=… REDIS_URL=… python benchmarks/pages.py [--small 10000] [--large 1000000] [--rounds 7] [--only orders]

Two databases are made on the server of DATABASE_URL and kept for the next run: `pages_10000` and `pages_1000000`, each
filled by `history.py`. The pages are asked as in the evening of the last whole day, so that both have a long day at any
hour of the run. A page that grows with its day, and not with the years, is compared with a third shop: it sells as many
orders a day as the large one, and is 60 days old. It is made when the first page needs it. With `--days` the small shop
sold its orders in other than a year, and with `--large-days` the large one.

Page by page, both are asked in turns; a time is the best of the rounds, so that other work of the machine counts
little. The table is Markdown: milliseconds of both, the ratio, the rows of the page's tables with few and with many
orders, and the queries with many. A list that shows more rows with many orders is compared with the same list without
its filter: then both show a whole page. Brackets name the list, or the time of the third shop and the ratio to the
small one. Policies and branches, which each process reads once in five seconds, are not counted. Exit code 1 when a
page has a ratio above 1.5 or more than 15 queries, a poll more than 4.
"""

from __future__ import annotations

import argparse
import datetime as dt
import html
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.counter_pages import counter_pages, fill_counter
from benchmarks.history import YEAR
from benchmarks.office_pages import fill_office, office_pages, people, workbench

MOST_RATIO, MOST_QUERIES, MOST_POLL_QUERIES = 1.5, 15, 4
# The first is the overview with its figures. The second finds nothing, so it searches again without the name.
MOST_QUERIES_OF = {"overview, a week by product": 24, "find: cashier": 16}
# A page faster than this (milliseconds) is fast: a ratio of two small numbers says nothing about rows.
_ALWAYS_FAST = 2.0
YOUNG = 60  # days of the shop that sells as many orders a day as the large one
# The pages' clock begins this long before the end of the last whole day, so that a run stays in that day.
_BEFORE_MIDNIGHT = dt.timedelta(hours=3)
# Lists without a filter; the names of narrower lists begin with these names.
_WHOLE = ("orders", "bills", "customers", "statement", "callbacks", "comparisons", "alerts", "exchanges", "audit")
_POLL_OF = "poll of "
_POLL = re.compile(r'id="live" hidden hx-get="([^"]+)"')


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", type=int, default=10_000)
    parser.add_argument("--large", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--days", type=int, default=YEAR, help="in which the small shop sold its orders")
    parser.add_argument("--large-days", type=int, default=YEAR, help="in which the large shop sold its orders")
    parser.add_argument("--only", default="", help="pages whose names this pattern finds")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    small = Shop(options.small, options.days)
    names = [name for name in small.names() if re.search(options.only, name)]
    # After the other is filled, because both collect the same static files.
    large = Shop(options.large, options.large_days)
    print(f"| page | {options.small:,} orders, ms | {options.large:,} orders, ms | ratio | rows | queries |")
    print("|---|---:|---:|---:|---:|---:|")
    young_orders = options.large * YOUNG // options.large_days
    young = cache(lambda: Shop(young_orders, YOUNG))
    too_much = [name for name in names if not compare(name, small, young, large, options.rounds)]
    print(f"\n{len(names)} pages; too slow or too many queries: {', '.join(too_much) or 'none'}")
    sys.exit(1 if too_much else 0)


def compare(name: str, small: Shop, young: Callable[[], Shop], large: Shop, rounds: int) -> bool:
    """Print the page's line; returns whether it keeps within the bounds. A slow page is measured again."""
    rows = [shop.ask(name)["rows"] for shop in (small, large)]
    whole = name.split(" ", maxsplit=1)[0].rstrip(",")
    asked = whole if rows[0] < rows[1] and whole in _WHOLE else name
    time_small, time_large, queries, ok = measure(asked, small, name, large, rounds)
    ratio, said = time_large / time_small, "" if asked == name else f" ({asked})"
    if ratio > MOST_RATIO and time_large > _ALWAYS_FAST:
        said += f" (young: {{:.1f}}; {ratio:.2f} to the small shop)"
        time_young, again, _queries, ok_again = measure(name, young(), name, large, rounds)
        said, ratio, ok = said.format(time_young), again / time_young, ok and ok_again
        time_large = min(time_large, again)
    usual = MOST_POLL_QUERIES if name.startswith(_POLL_OF) else MOST_QUERIES
    fits = ok and (ratio <= MOST_RATIO or time_large <= _ALWAYS_FAST) and queries <= MOST_QUERIES_OF.get(name, usual)
    print(
        f"| {name} | {time_small:.1f}{said} | {time_large:.1f} | {ratio:.2f}"
        f" | {rows[0]}, {rows[1]} | {queries}{'' if ok else ', fails'} |",
        flush=True,
    )
    return fits


def measure(asked: str, smaller: Shop, name: str, large: Shop, rounds: int) -> tuple[float, float, int, bool]:
    """Ask the page `asked` of the smaller shop and `name` of the large one in turns.

    Return the best milliseconds of both, the most queries, and whether every answer was good.
    """
    times: dict[Shop, float] = {}
    queries, ok = 0, True
    for _ in range(3):
        for shop in (smaller, large) * rounds:
            answer = shop.ask(name if shop is large else asked)
            times[shop] = min(times.get(shop, 1e9), answer["ms"])
            queries, ok = max(queries, answer["queries"]), ok and answer["ok"]
        ratio = times[large] / times[smaller]
        if ratio <= MOST_RATIO or ratio > 4:
            break
    return times[smaller], times[large], queries, ok


class Shop:
    """A process that serves pages from the database with so many orders, sold in so many days."""

    def __init__(self, orders: int, days: int) -> None:
        parts, name = (
            urlsplit(os.environ["DATABASE_URL"]),
            f"pages_{orders}" if days == YEAR else f"pages_{orders}_{days}d",
        )
        environment = {**os.environ, "PAGES_ORDERS": str(orders), "PAGES_DAYS": str(days)}
        environment["DATABASE_URL"] = urlunsplit(parts._replace(path=f"/{name}"))
        make_database(os.environ["DATABASE_URL"], name)
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
        )

    def ask(self, name: str) -> dict[str, Any]:
        """Show a page once: {ms, queries, rows, ok}."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(name + "\n")
        self._process.stdin.flush()
        while not (line := self._process.stdout.readline()).startswith("{"):
            if not line:
                sys.exit(f"The process of {name} has ended.")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def names(self) -> list[str]:
        """The names of all pages."""
        return list(self.ask("")["names"])


def make_database(server: str, name: str) -> None:
    """Make the database unless it is there."""
    import psycopg
    from psycopg import sql

    with psycopg.connect(server, autocommit=True) as connection:
        if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


def serve() -> None:
    """Fill the database if it is new, and answer for its pages as in the evening of the last whole day."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backoffice.settings")
    os.environ.setdefault("SECRET_KEY", "only-for-benchmarks-" + "x" * 50)
    os.environ |= {"BACKOFFICE_SANDBOX": "1", "ALLOWED_HOSTS": "testserver", "HTTPS": "0", "LOG_LEVEL": "ERROR"}
    import django

    django.setup()
    from django.utils import timezone

    import branches.services
    import policies.services
    from core.clock import demo_time
    from core.times import start_of_day

    fill(int(os.environ["PAGES_ORDERS"]), int(os.environ["PAGES_DAYS"]))
    branches.services._KEPT_SECONDS = policies.services._KEPT_SECONDS = 1e9  # so that each count is the page's own
    with demo_time() as move:
        move(start_of_day(timezone.localdate()) - _BEFORE_MIDNIGHT)
        answer_each()


def answer_each() -> None:
    """Show each page whose name comes in, and say how long it took."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from staff.models import User

    browser = Client(raise_request_exception=False)
    browser.force_login(User.objects.get(username="owner"))
    shown = dict(pages(lambda address: browser.get(address).content.decode()))
    for line in sys.stdin:
        name = line.strip()
        if not name:
            print(json.dumps({"names": list(shown)}), flush=True)
            continue
        address, headers = shown[name]
        if name.startswith(_POLL_OF):  # as from a page that was opened just now
            page = browser.get(shown[name.removeprefix(_POLL_OF)][0]).content.decode()
            address = _poll(page) or address
        started = time.perf_counter()
        answer = browser.get(address, headers=headers)
        milliseconds = (time.perf_counter() - started) * 1000
        if answer.status_code >= 400:
            print(f"{address} answers {answer.status_code}", file=sys.stderr)
        with CaptureQueriesContext(connection) as queries:
            browser.get(address, headers=headers)
        facts = {"rows": answer.content.count(b"<tr"), "queries": len(queries), "ok": answer.status_code < 400}
        print(json.dumps({"ms": milliseconds, **facts}), flush=True)


def fill(orders: int, days: int = YEAR) -> None:
    """Migrate, and seed a missing history."""
    from django.conf import settings
    from django.core.management import call_command
    from django.db import connection
    from django.utils import timezone

    from benchmarks.history import seed
    from earnings.models import DaySum, SummedDay
    from gateway.models import UpstreamAccount
    from purchases.models import Order
    from testing.sandbox_process import SandboxProcess
    from upstream.client import get_client

    call_command("prepare_app", stdout=sys.stderr)
    if not Order.objects.exists():
        sandbox = SandboxProcess.fresh(f"pages_{orders}_{days}")
        try:
            settings.UPSTREAM_BASE_URL = settings.SANDBOX_URL = sandbox.url
            settings.UPSTREAM_SECRET_ID, settings.UPSTREAM_SECRET_KEY = sandbox.secret_id, sandbox.secret_key
            get_client().budget.declare_fresh()
            seed(orders, days=days)
        finally:
            sandbox.remove()
    fill_counter()
    fill_office()
    if not SummedDay.objects.filter(day=timezone.localdate() - dt.timedelta(days=2)).exists():
        call_command("sum_days", stdout=sys.stderr)  # as each night; it also proves every day, which takes minutes
    # The running day has no sums while the pages are asked.
    DaySum.objects.filter(day=timezone.localdate() - dt.timedelta(days=1)).delete()
    SummedDay.objects.filter(day=timezone.localdate() - dt.timedelta(days=1)).delete()
    with connection.cursor() as cursor:  # a shop's server does this by itself, a server for tests does not
        cursor.execute("SET statement_timeout = 0")
        cursor.execute("VACUUM")
        cursor.execute("RESET statement_timeout")
    UpstreamAccount.objects.update(unreachable_since=None, refused_since=None)


def pages(read: Callable[[str], str]) -> Iterator[tuple[str, tuple[str, dict[str, str]]]]:
    """Every page by its name: its address and headers. `read` shows the content of an address."""
    for name, address in addresses():
        yield name, (address, {})
        if name in _LIVE and (poll := _poll(read(address))):
            yield f"{_POLL_OF}{name}", (poll, {"HX-Request": "true"})


def _poll(page: str) -> str:
    match = _POLL.search(page)
    return html.unescape(match[1]) if match else ""


_LIVE = {"overview", "orders", "orders, open", "bills", "balance", "counter"}


def addresses() -> Iterator[tuple[str, str]]:  # noqa: PLR0915 - a list
    """Every page without its polls."""
    from django.urls import reverse
    from django.utils import timezone

    from bills.models import BillCheck
    from callbacks.models import Callback
    from customers.models import Customer, SavedNumber
    from ledger.models import Entry
    from purchases.models import Order
    from reconciliation.models import Difference, ReconciliationRun

    def middle(model: Any, **facts: Any) -> Any:
        newest = model.objects.latest("pk").pk
        return model.objects.filter(pk__gte=newest // 2, **facts).order_by("pk").first()

    today = timezone.localdate()
    month_ago, half_year_ago = today - dt.timedelta(days=30), today - dt.timedelta(days=180)
    # with a phone number in both, so that both show the same
    order = middle(Order, status="success", kind="purchase", destination__startswith="08")
    bill = middle(BillCheck, order__isnull=False)
    check = middle(BillCheck, order__isnull=True)
    number = middle(SavedNumber, product__type="postpaid")

    orders = reverse("order_list")
    yield "overview", reverse("overview")
    yield "overview, a week by product", f"{reverse('overview')}?days=7&by=product"
    yield "overview, its figures", reverse("earnings_today")
    yield "overview, a month by customer", f"{reverse('earnings_today')}?days=month&by=customer"
    yield "orders", orders
    yield "orders, far back", f"{orders}?older={order.created_at:%Y%m%dT%H%M%S.%f}-{order.pk}"
    yield "orders, newer than far back", f"{orders}?newer={order.created_at:%Y%m%dT%H%M%S.%f}-{order.pk}"
    for status in (
        "attention",
        "open",
        "success",
        "failed",
        "rejected",
        "reversed",
        "closed",
        "needs_action",
        "unknown",
        "queued",
    ):
        yield f"orders, {status}", f"{orders}?status={status}"
    yield "orders of a brand", f"{orders}?brand=by.U"
    yield "orders of a product", f"{orders}?product={order.product_code}"
    yield "orders of a rare product", f"{orders}?product=NETFLIX1"
    yield "orders, failed, of a brand", f"{orders}?status=failed&brand=AXIS"
    yield "orders since", f"{orders}?since={month_ago}"
    yield "orders until", f"{orders}?until={half_year_ago}"
    yield "orders, rejected, until", f"{orders}?status=rejected&until={half_year_ago}"
    yield "orders of a cashier", f"{orders}?cashier=cashier"
    yield "orders of an ending", f"{orders}?ends={order.destination[-4:]}"
    yield "orders, nothing left", f"{orders}?status=failed&ends=000000000001&days=yesterday"
    yield "orders of a customer", f"{orders}?customer={number.customer_id}"
    yield "orders of a buyer", f"{orders}?buyer={number.customer_id}"
    for name in ("amount_from=50000&amount_to=55000", "payment=qris", "profit=loss"):
        yield f"orders of a day, {name}", f"{orders}?{name}&days=yesterday"
    for name, text in {
        "ref_id": order.ref_id, "beginning of a ref_id": order.ref_id[:9],
        "end of a ref_id": order.ref_id[-6:], "trx_id": order.trx_id, "SN": order.sn,
        "number": order.destination, "beginning of a number": order.destination[:8],
        "end of a number": order.destination[-6:], "number abroad": f"+62 {order.destination[1:]}",
        "what is not there": "ZZ-NOT-THERE-99",
    }.items():  # fmt: skip
        yield f"orders, search: {name}", f"{orders}?q={text.replace('+', '%2B').replace(' ', '%20')}"
    for name, text in {
        "number": order.destination, "end of a number": order.destination[-4:], "SN": order.sn, "ref_id": order.ref_id,
        "end of a ref_id": order.ref_id[-6:], "trx_id": order.trx_id, "name": "sari", "product": "tel 10",
        "line": "50 ribu kemarin", "line without orders": "50 ribu kemarin akhiran 0001", "cashier": "cashier kemarin",
        "page": "orders", "what is not there": "08990000000",
    }.items():  # fmt: skip
        yield f"find: {name}", f"{reverse('find')}?q={text.replace(' ', '+')}"
    yield "order, success", reverse("order_detail", args=[order.ref_id])
    yield "receipt", reverse("order_receipt", args=[order.ref_id])
    yield "Buy", reverse("catalogue")
    yield "Buy, search", f"{reverse('catalogue')}?q=tsel+10"
    yield "Buy, number", f"{reverse('catalogue')}?destination={order.destination}"
    sold = f"product={order.product_code}&q={order.destination}"
    yield "counter, product chosen", f"{reverse('counter')}?{sold}"
    yield "review", f"{reverse('counter_review')}?{sold}"
    yield "price changes", reverse("price_changes")
    bills = reverse("bill_list")
    yield "bills", bills
    yield "bills, far back", f"{bills}?older={bill.created_at:%Y%m%dT%H%M%S.%f}-{bill.pk}"
    for state in ("pending", "valid", "expired", "paid", "not_payable"):
        yield f"bills, {state}", f"{bills}?state={state}"
    for name, text in {
        "ref_id": bill.ref_id, "number": bill.destination, "end of a number": bill.destination[-6:],
        "name": bill.customer_name, "beginning of a name": bill.customer_name[:9], "what is not there": "ZZ-NOT-99",
    }.items():  # fmt: skip
        yield f"bills, search: {name}", f"{bills}?q={text.replace(' ', '%20')}"
    yield "bill, paid", reverse("bill_detail", args=[bill.ref_id])
    yield "bill, expired", reverse("bill_detail", args=[check.ref_id])
    yield "counter, bill", reverse("counter_bill", args=[check.ref_id])
    yield "counter, biller chosen", f"{reverse('counter_review')}?product={bill.product_code}&q={bill.destination}"
    if batch := BillCheck.objects.filter(batch__isnull=False).first():
        yield "batch", reverse("counter_batch", args=[batch.batch])
    yield "shop", reverse("shop_settings")
    customers = reverse("customer_list")
    yield "customers", customers
    yield "customers, far back", f"{customers}?page={Customer.objects.count() // 100}"
    yield "customers, search: name", f"{customers}?q={number.customer.name.replace(' ', '%20')}"
    yield "customers, search: number", f"{customers}?q={number.destination}"
    yield "customer", number.customer.get_absolute_url()
    statement = reverse("statement")
    entry = middle(Entry)
    yield "statement", statement
    yield "statement, far back", f"{statement}?older={entry.at:%Y%m%dT%H%M%S.%f}-{entry.pk}"
    for kind in ("money", "opening", "hold", "debit", "refund", "reversal", "topup", "adjustment", "debit:bill"):
        yield f"statement, {kind}", f"{statement}?kind={kind}"
    yield "statement since", f"{statement}?since={month_ago}"
    yield "statement, reversals until", f"{statement}?kind=reversal&until={half_year_ago}"
    yield "statement, search", f"{statement}?q={order.ref_id}"
    yield "closing today", reverse("closing", args=[today])
    yield "closing, half a year ago", reverse("closing", args=[half_year_ago])
    yield "balance", reverse("balance")
    yield "journal", f"{reverse('journal')}?day={timezone.localdate()}"
    runs = reverse("run_list")
    yield "comparisons", runs
    yield "comparison", reverse("run_detail", args=[middle(ReconciliationRun).pk])
    yield "comparisons, unexplained", f"{runs}?state=unexplained"
    yield "differences", reverse("difference_list")
    yield "difference", reverse("difference_detail", args=[middle(Difference).pk])
    yield "alerts", reverse("alert_list")
    yield "alerts now", reverse("alerts_now")
    callback = middle(Callback)
    callbacks = reverse("callback_list")
    yield "callbacks", callbacks
    yield "callbacks, far back", f"{callbacks}?older={callback.received_at:%Y%m%dT%H%M%S.%f}-{callback.pk}"
    for state in ("received", "applied", "unmatched", "malformed"):
        yield f"callbacks, {state}", f"{callbacks}?state={state}"
    yield "callbacks, search: ref_id", f"{callbacks}?q={order.ref_id}"
    yield "callbacks, search: delivery", f"{callbacks}?q={callback.delivery_id}"
    yield "callbacks, search: what is not there", f"{callbacks}?q=ZZ-NOT-THERE"
    yield "callback", reverse("callback_detail", args=[callback.pk])
    yield from counter_pages(order)
    yield from workbench(order)
    yield from office_pages()
    yield from people()


if __name__ == "__main__":
    main()
