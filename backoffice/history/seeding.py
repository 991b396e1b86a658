"""Fill the tables of a sandbox with the history of a busy shop."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

from django.conf import settings
from django.db import connection
from django.utils import timezone

from audit.models import Sealing
from audit.services import seal_again
from backoffice.history.loading import bulk_load, copy_blocks
from backoffice.history.parts import ORDERS, Made, Part, cut, numbers_for, write_all
from backoffice.history.rows import NULL, History, moment
from backoffice.history.shop import Shop, busy_moments, name_of, number_of, open_shop
from backoffice.history.writing import Account, Writer
from core import heartbeats
from core.errors import Refused
from core.times import start_of_day
from gateway.models import Exchange
from ledger.models import Books, Entry, Proof
from ledger.services import close_days
from purchases.models import Order
from purchases.models.orders import may_be_charged
from purchases.states import Status
from reconciliation.models import Reconciliation
from reconciliation.services import prove

Progress = Callable[[int], None]

_YEAR = dt.timedelta(days=365)
# Rupiah: a top-up fills the balance up to this; a small shop has less.
_FULL = 60_000_000
# Of a thousand orders; the rest succeeds.
_OUTCOMES = {
    Status.FAILED: 28, Status.REJECTED: 14, Status.CANCELLED: 5, Status.REVERSED: 1, Status.CLOSED: 1,
}  # fmt: skip
# Numbers; far more than all processes take in a millisecond
_TAKEN_MEANWHILE = 1_000
# So many orders need action in the end, however long the history is.
_NEED_ACTION, _NEVER_ARRIVED = 2_000, 20


def seed_history(orders: int, *, more: bool, seed: int, progress: Progress) -> int:
    """Write a year of history with so many orders, and return the account's balance after it (rupiah).

    `more`: go on with the history that is there, from its last entry on. `progress` gets the number of orders written.
    Raises `Refused` with a real upstream account, with history in the database unless `more`, with `more` while
    processes of the shop run, and while orders are under way. The pages wait while it works: it takes the tables for
    itself.
    """
    _refuse_unless_possible(more=more)
    random = Random(f"{seed} {Order.objects.count() if more else 0}")  # noqa: S311 - it guards nothing
    shop = open_shop(random, orders=orders)
    tables = History().tables()
    with bulk_load(tables.values()):
        _refuse_unless_possible(more=more)  # somebody may have sold until the tables were ours
        end = timezone.now().replace(microsecond=0) - dt.timedelta(minutes=1)
        account, start = _account_so_far(orders, end)
        if start >= end:
            raise Refused("Something was booked within the last minute. Try again in a minute.")
        writer = Writer(shop, account, _next_ids(tables), random=random, now=end.timestamp())
        if not Entry.objects.exists():
            writer.open_books(start.timestamp())
            Books.objects.update_or_create(only=True, defaults={"opened_at": start})
        writer.top_up(start.timestamp())
        _customers(writer, shop, random=random, start=start, end=end, number=orders // 100 + 20)
        _others(writer, shop, start, end, orders)
        copy_blocks(writer.rows.blocks())
        account = replace(writer.account, outside=0)
        first = Part(orders=[], account=account, next_ids=_next_ids(tables), seed=f"{seed}", now=end.timestamp())
        done, outside = 0, writer.account.outside
        for blocks, account in write_all(cut(_made(orders, random, start, end), first), shop):
            copy_blocks(blocks)
            outside += account.outside
            done = min(done + ORDERS, orders)
            progress(done)
        _finish(account, outside)
        _advance_sequences(tables)
    _prove()
    return account.balance


def _refuse_unless_possible(*, more: bool) -> None:
    if not settings.SANDBOX:
        raise Refused("This database has a real upstream account: made-up history is for the sandbox only.")
    if not more and (Order.objects.exists() or Entry.objects.exclude(kind=Entry.Kind.OPENING).exists()):
        raise Refused("There are orders already. Take an empty database (`./run reset`), or go on with `--more`.")
    # they would sell on between what is counted here and the balance that the sandbox gets
    if more and (running := sorted(heartbeats.read().alive())):
        raise Refused(f"The shop is running ({', '.join(running)}). Stop ./run, wait 15 seconds, and try again.")
    if Order.objects.open().filter(may_be_charged()).exclude(status=Status.NEEDS_ACTION).exists():
        raise Refused("Orders are under way. Wait until they are final.")
    if Books.objects.exclude(found=0).exists():
        raise Refused("Differences are open. Acknowledge them first: ./run manage reconcile")


def _account_so_far(orders: int, end: dt.datetime) -> tuple[Account, dt.datetime]:
    """The account as the books have it, or a new one, and from when on history is written."""
    full = min(_FULL, 10_000_000 + 50 * orders)
    books, newest = Books.objects.filter(only=True).first(), Entry.objects.order_by("-pk").first()
    with connection.cursor() as cursor:
        # Others go on behind these numbers, whatever becomes of our transaction. Some may take one between the two.
        cursor.execute("SELECT nextval(pg_get_serial_sequence('gateway_exchange', 'id'))")
        no = int(cursor.fetchone()[0]) + _TAKEN_MEANWHILE
        last = no + numbers_for(orders)
        cursor.execute("SELECT setval(pg_get_serial_sequence('gateway_exchange', 'id'), %s)", [last])
    if books is None or newest is None:
        return Account(no=no, balance=full, full=full), end - _YEAR
    row = Reconciliation.objects.filter(only=True).first()
    account = Account(
        no=no,
        balance=books.balance,
        full=max(books.balance, full),
        reserved=books.reserved,
        outside=row.outside if row else 0,
    )
    if newest.kind != Entry.Kind.OPENING:
        start = newest.at.replace(microsecond=0) + dt.timedelta(seconds=1)
        if books.closed_day:  # what a closed day has come to never changes
            start = max(start, start_of_day(books.closed_day + dt.timedelta(days=1)))
        return account, start
    start = end - _YEAR
    _date_opening(newest, start)
    return account, start


def _date_opening(opening: Entry, start: dt.datetime) -> None:
    """Date the opening of untouched books before the history: the order of entries is the order of time."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE ledger_entry DISABLE TRIGGER USER")
        cursor.execute("UPDATE ledger_entry SET at = %s WHERE id = %s", [start, opening.pk])
        cursor.execute("ALTER TABLE ledger_entry ENABLE TRIGGER USER")
    Books.objects.update(opened_at=start)
    seal_again()


def _next_ids(tables: dict[str, str]) -> dict[str, int]:
    ids = {}
    with connection.cursor() as cursor:
        for name, table in tables.items():
            cursor.execute(f"SELECT COALESCE(max(id), 0) + 1 FROM {table}")  # noqa: S608 - our own names
            ids[name] = int(cursor.fetchone()[0])
    return ids


def _outcomes(orders: int, random: Random) -> Iterator[tuple[Status, bool]]:
    """How each order ends, and whether it waits as one that seems never to have arrived."""
    needing = min(_NEED_ACTION, orders // 40)
    open_from = max(orders - 10 * needing, 0)  # nobody leaves an order for months
    # What seems lost stays reserved: only the last part may have such orders.
    last_part, lost = (orders - 1) // ORDERS * ORDERS, 0
    names, weights = [Status.SUCCESS, *_OUTCOMES], [1000 - sum(_OUTCOMES.values()), *_OUTCOMES.values()]
    drawn: list[Status] = []
    for number in range(orders):
        if needing and number >= open_from and number % 10 == 5:
            seems_lost = number >= last_part and number % 50 == 5 and lost < _NEVER_ARRIVED
            lost += seems_lost
            yield Status.NEEDS_ACTION, seems_lost
        else:
            if not drawn:
                drawn = random.choices(names, weights, k=ORDERS)
            yield drawn.pop(), False


def _made(orders: int, random: Random, start: dt.datetime, end: dt.datetime) -> Iterator[Made]:
    moments = busy_moments(start, end, orders)
    for (outcome, waits), (at, room) in zip(_outcomes(orders, random), moments, strict=True):
        yield Made(at, room, outcome, waits)


def _customers(
    writer: Writer, shop: Shop, *, random: Random, start: dt.datetime, end: dt.datetime, number: int
) -> None:
    """People whose numbers are kept: two of each on average, some of them at a biller."""
    history = writer.rows
    ids = _next_ids(history.tables())
    number_id, span = ids["numbers"], (end - start).total_seconds()
    for person in range(number):
        stamp = moment(start.timestamp() + span * person / number)
        customer_id = ids["customers"] + person
        history.customers.add(customer_id, name_of(person), "Langganan" if person % 5 == 0 else "", stamp)
        picked = [(shop.billers if random.random() < 0.4 else shop.products).pick() for _ in range(4)]
        for ware in dict.fromkeys(picked[: random.choice((1, 1, 2, 2, 4))]):
            history.numbers.add(number_id, customer_id, number_of(ware, person), ware.kind, ware.id, stamp)
            number_id += 1


def _others(writer: Writer, shop: Shop, start: dt.datetime, end: dt.datetime, orders: int) -> None:
    """Alerts that have ended, and prices that changed."""
    history = writer.rows
    ids, random = _next_ids(history.tables()), Random(orders)  # noqa: S311
    span = (end - start).total_seconds()
    for number in range(orders // 1_000 + 60):
        at = start.timestamp() + span * number / (orders // 1_000 + 60)
        facts = f'{{"since": "{moment(at).replace(" ", "T")}:00"}}'
        history.alerts.add(
            ids["alerts"] + number, "unreachable", "", 1, facts, moment(at), moment(at + random.uniform(30, 3_000))
        )
    for number in range(orders // 200 + 50):
        ware = shop.products.pick()
        stamp = moment(start.timestamp() + span * number / (orders // 200 + 50))
        before = ware.price + random.choice((-200, -100, -50, 50, 100))
        history.price_changes.add(ids["price_changes"] + number, ware.id, stamp, max(before, 0) or NULL, ware.price, 0)


def _finish(account: Account, outside: int) -> None:
    """The rows of which there is one: the books' sums, and how far reconciliation has come."""
    Books.objects.filter(only=True).update(balance=account.balance, reserved=account.reserved)
    Reconciliation.objects.update_or_create(
        only=True,
        defaults={
            "quiet": Exchange.objects.get(pk=account.quiet),
            "booked": account.balance - outside,
            "outside": outside,
            "judged_no": account.quiet_answered,
        },
    )


def _advance_sequences(tables: dict[str, str]) -> None:
    with connection.cursor() as cursor:
        # Exchanges and entries have one sequence; its numbers were set aside.
        for table in set(tables.values()) - {Exchange._meta.db_table, Entry._meta.db_table}:
            newest = f"SELECT COALESCE(max(id), 1) FROM {table}"  # noqa: S608 - our own names
            cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), ({newest}))")


def _prove() -> None:
    Proof.objects.filter(only=True).delete()
    Sealing.objects.update_or_create(only=True, defaults={"made_up": True})
    close_days()
    prove(everything=True)
