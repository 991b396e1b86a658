"""`./run manage restart_audit`: go on with the audit after a dump was restored into a new PostgreSQL."""

from typing import Any

from django.core.management.base import CommandError
from django.db import connection, transaction

from audit.events import RESTORED
from audit.models import Sealing
from audit.services import record
from audit.services.sources import Key, audited_tables
from core.commands import PlainCommand

_FUNCTION = """
    CREATE OR REPLACE FUNCTION transaction_number() RETURNS bigint LANGUAGE sql VOLATILE
    AS 'SELECT pg_current_xact_id()::text::bigint + {}'
"""


class Command(PlainCommand):
    """Let the numbers of transactions go on where the dump ended. Run it as the owner of the tables."""

    help = "After a restore: count transactions on from the last one of the dump, so that new rows are sealed."

    def handle(self, *args: Any, **options: Any) -> None:
        """Move the numbers; refuse if that is not needed."""
        state = Sealing.objects.first() or Sealing()
        last = Key.unpacked(bytes.fromhex(state.key)).txid
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SELECT transaction_number(), pg_current_xact_id()::text::bigint")
            number, current = cursor.fetchone()
            if number > last:
                raise CommandError("The transactions count on already; nothing was changed.")
            there = set(connection.introspection.table_names(cursor))  # of the dump's version, maybe an older one
            for table in [audited for audited in audited_tables() if audited.name in there]:
                cursor.execute(f"SELECT coalesce(max(txid), 0) FROM {table.name}")  # noqa: S608 - our names
                last = max(last, cursor.fetchone()[0])
            cursor.execute(_FUNCTION.format(last - current + 1))
            Sealing.objects.filter(flaw__reason="restored").update(flaw=None)
            record(RESTORED, facts={"from": last + 1})
        self.stdout.write(f"Transactions count on from {last + 1}.")
