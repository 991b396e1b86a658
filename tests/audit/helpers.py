"""Acts of the database's superuser on audited rows, and the shop's normal work."""

import json
import time

from django.db import connection, transaction

from audit.models import Checkpoint, Sealing, Tile
from audit.services import AT_ONCE, publish_checkpoints, record, seal, sealing, verify
from purchases.models import Order
from purchases.states import Status
from staff.events import STAFF_INVITED
from staff.models import User
from testing.database import tamper
from testing.factories import make_product
from testing.orders import answer, place, report
from testing.people import make_person


def sold(count: int = 1) -> list[Order]:
    """Orders that have succeeded."""
    product = make_product()
    return [report(answer(place(product), Status.PENDING), price=product.price, sn="SN1") for _ in range(count)]


@transaction.atomic
def hired(role: str, **facts: object) -> User:
    """A person with an account, and the event about it, as our services write both."""
    person = make_person(role, **facts)
    record(STAFF_INVITED, subject=person.username)
    return person


def wait_until_settled() -> None:
    """Wait until other tests' transactions in the same server, which rightly hold our sealer back, have ended."""
    until = time.monotonic() + 120
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_current_xact_id()::text::bigint")
        (newest_now,) = cursor.fetchone()
        while time.monotonic() < until:
            cursor.execute("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint")
            if cursor.fetchone()[0] > newest_now:
                return
            time.sleep(0.02)
    raise TimeoutError


def seal_all() -> None:
    """Seal everything, with a sent checkpoint at the end."""
    wait_until_settled()
    while seal() == AT_ONCE:
        pass
    every, sealing._CHECKPOINT_EVERY = sealing._CHECKPOINT_EVERY, sealing._CHECKPOINT_EVERY * 0
    try:
        seal()
    finally:
        sealing._CHECKPOINT_EVERY = every
    publish_checkpoints()


def recompute_everything() -> None:
    """Make leaves, tree and checkpoints again from the rows as they are now, signed with the real key."""
    for model in (Tile, Checkpoint, Sealing):
        tamper(f"DELETE FROM {model._meta.db_table}")
    seal_all()


def flaws_found(**options: object) -> list[tuple[str, str]]:
    """The flaws that a verification names: (reason, table)."""
    return [(flaw.reason, flaw.table) for flaw in verify(**options).flaws]


def newest(table: str, key: str = "id") -> int:
    """The key of the newest row of a table."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT max({key}) FROM {table}")
        return cursor.fetchone()[0]


def lines_of(path: object) -> list[str]:
    """The lines of a file of checkpoints."""
    lines = path.read_text().splitlines()
    assert all(json.loads(line)["note"] for line in lines)
    return lines
