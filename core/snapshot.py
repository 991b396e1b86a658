"""Read numbers that belong together."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def snapshot() -> Iterator[None]:
    """Every query inside sees the database as it was at the first of them, whatever is committed meanwhile.

    For reading only: a write inside is refused. Inside a transaction that has begun already nothing changes.
    """
    if connection.in_atomic_block:
        yield
        return
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
