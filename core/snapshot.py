"""Read numbers that belong together."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction
from psycopg import IsolationLevel


@contextmanager
def snapshot() -> Iterator[None]:
    """Every query inside sees the database at the moment of the first one, also if others commit meanwhile.

    For reading only: a write inside is refused. Inside a transaction that has begun already it does nothing.
    """
    if connection.in_atomic_block:
        yield
        return
    own = None
    try:
        with transaction.atomic():
            own = connection.connection
            # Both go with the BEGIN, which is sent with the first query.
            own.isolation_level, own.read_only = IsolationLevel.REPEATABLE_READ, True
            yield
    finally:
        if own and not own.closed:
            own.isolation_level = own.read_only = None
