"""Write a statement of many entries as CSV and as a workbook: CPU time, bytes, and the most memory.

    python benchmarks/exports.py [--rows 1000000]

The third line is a bare loop: the same rows read from the database with psycopg and written by the csv
module. The CPU time is that of the writing process; PostgreSQL's own is not in it.
"""

import argparse
import csv
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.servers import shop

_FILL = """
    INSERT INTO ledger_entry
        (id, kind, amount, balance_change, reserved_change, balance_after, reserved_after, ref_id, order_kind, reason,
        at)
    SELECT n, CASE n %% 4 WHEN 1 THEN 'hold' WHEN 2 THEN 'release' WHEN 3 THEN 'debit' ELSE 'topup' END, 10500,
        CASE n %% 4 WHEN 3 THEN -10500 WHEN 0 THEN 10500 ELSE 0 END,
        CASE n %% 4 WHEN 1 THEN 10500 WHEN 2 THEN -10500 ELSE 0 END,
        1000000000 - 10500 * (n %% 4 / 3), 10500 * (n %% 4 %% 2),
        CASE n %% 4 WHEN 0 THEN '' ELSE 'P' || n / 4 END, CASE n %% 4 WHEN 0 THEN '' ELSE 'purchase' END,
        CASE n %% 4 WHEN 0 THEN 'BCA' ELSE '' END, now() - (%(rows)s - n) * interval '1 second'
    FROM generate_series(1, %(rows)s) n
"""


def main() -> None:
    """Fill the books, write each format, print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    with shop():
        from django.db import connection

        from exports.models import Export
        from ledger.models import Entry
        from ledger.tasks import write_statement
        from staff.models import User

        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")
            cursor.execute(_FILL, {"rows": options.rows})
            cursor.execute("ANALYZE ledger_entry")
        owner = User.objects.create(username="benchmark")
        print("| file | rows | CPU s | MB | most memory MiB |\n|---|---|---|---|---|")
        for file_format in ("csv", "xlsx"):
            facts = {"list_name": "statement", "task": "", "permission": "", "file_format": file_format}
            export = Export.objects.create(owner=owner, **facts)
            seconds = cpu_of(partial(write_statement, export.pk))
            export.refresh_from_db()
            assert export.state == "ready", export.state
            print(f"| {file_format} | {export.rows_done} | {seconds:.1f} | {export.size / 1e6:.0f} | {memory()} |")
        seconds = cpu_of(partial(bare_loop, Entry._meta.db_table))
        print(f"| bare loop, csv | {options.rows} | {seconds:.1f} | | {memory()} |")


def bare_loop(table: str) -> None:
    """Read and write the rows with nothing between."""
    import psycopg
    from django.db import connection

    parameters = connection.get_connection_params()
    known = {name: parameters[name] for name in ("dbname", "user", "host", "port", "password") if name in parameters}
    with closing(psycopg.connect(**known)) as own, tempfile.TemporaryFile("w", newline="") as file:
        cursor = own.cursor(name="rows")
        cursor.itersize = 5_000
        cursor.execute(f"SELECT * FROM {table} ORDER BY id")  # noqa: S608 - a name of ours
        csv.writer(file).writerows(cursor)


def cpu_of(work: Callable[[], object]) -> float:
    """Seconds of CPU that this process spends on the work."""
    began = time.process_time()
    work()
    return time.process_time() - began


def memory() -> int:
    """The most memory that this process has held at any time (MiB)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
