"""`python -m checks.fresh_tables`: `core/tables.sql.gz` gives exactly the database that every migration gives.

A throw-away server gets two databases, one from the file, one from the migrations one by one. Tables, triggers,
functions and rights must be the same text, and all rows the same except for times and numbers of transactions.
`python -m checks.fresh_tables write` writes the file at each release.
"""

import difflib
import gzip
import json
import os
import re
import subprocess
import sys

import psycopg
from psycopg import sql

from checks.server import throw_away_server
from core.schema import FILE
from launcher import PYTHON, ROOT
from launcher.postgresql import PostgreSQL, bundled

AT_ONCE, ONE_BY_ONE = "at_once", "one_by_one"
# The session's settings while the file is read; they end with its transaction.
_BEGIN, _END = (
    "SET LOCAL search_path = '';\nSET LOCAL check_function_bodies = off;\n",
    "SET LOCAL search_path TO DEFAULT;\n",
)
_SESSION = ("\\", "SET ", "SELECT pg_catalog.set_config(", "--")
# PostgreSQL writes a list of texts differently once it has read its own output.
_LIST, _WORD = re.compile(r"\(ARRAY\[([^]]*)\]\)::text\[\]"), re.compile(r"('(?:[^']|'')*'::character varying)")
_DONE = "SELECT app, name FROM django_migrations ORDER BY id"
_TABLES = "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
_CHANGING = """
    SELECT attname::text FROM pg_attribute
     WHERE attrelid = %s::regclass AND (atttypid = 'timestamptz'::regtype OR attname = 'txid')
"""


def main(words: list[str]) -> int:
    """Compare, or write the file; 1 when there is a difference, whose first lines are printed."""
    writes = words == ["write"]
    with throw_away_server(AT_ONCE, ONE_BY_ONE) as postgres:
        migrate(postgres, ONE_BY_ONE, "--each")
        if writes:
            FILE.write_bytes(gzip.compress(tables_of(postgres).encode(), mtime=0))
        migrate(postgres, AT_ONCE)
        differences = list(difflib.unified_diff(whole(postgres, ONE_BY_ONE), whole(postgres, AT_ONCE), n=0))
    for line in differences[:40]:
        print(line[:200])
    if differences:
        print(f"{FILE.name} and the migrations give different databases: python -m checks.fresh_tables write")
    else:
        print(f"{FILE.name} gives what the migrations give.")
    return 1 if differences else 0


def migrate(postgres: PostgreSQL, database: str, *words: str) -> None:
    """Call `migrate` for one of the databases."""
    command = [str(PYTHON), "manage.py", "migrate", "--verbosity", "0", *words]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "DATABASE_URL": postgres.url(database)})


def dump(postgres: PostgreSQL, database: str) -> list[str]:
    """The tables, triggers and functions as lines of SQL, without session settings and comments."""
    command = [str(bundled() / "bin" / "pg_dump"), "--schema-only", "--no-owner", "--dbname", postgres.url(database)]
    text = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    return [line for line in text.splitlines() if line and not line.startswith(_SESSION)]


def tables_of(postgres: PostgreSQL) -> str:
    """The content of the file: the tables, and the names of the migrations that made them."""
    with psycopg.connect(postgres.url(ONE_BY_ONE)) as connection:
        done = sql.SQL(", ").join(
            sql.SQL("({}, {}, now())").format(*map(sql.Literal, row)) for row in connection.execute(_DONE)
        )
        names = sql.SQL("INSERT INTO public.django_migrations (app, name, applied) VALUES {};").format(done)
        lines = [*dump(postgres, ONE_BY_ONE), names.as_string(connection)]
    return _BEGIN + "\n".join(lines) + "\n" + _END


def again(texts: re.Match[str]) -> str:
    """A list of texts as PostgreSQL writes it after it has read its own output."""
    return "ARRAY[" + _WORD.sub(r"(\1)::text", texts[1]) + "]"


def whole(postgres: PostgreSQL, database: str) -> list[str]:
    """A line for each part of a database: its tables, triggers, functions, sequences and rows."""
    found = [_LIST.sub(again, line) for line in dump(postgres, database)]
    with psycopg.connect(postgres.url(database)) as connection:
        query = "SELECT sequencename::text, last_value FROM pg_sequences ORDER BY 1"
        found += [f"{name}: {last}" for name, last in connection.execute(query)]
        for (table,) in connection.execute(_TABLES).fetchall():
            changing = [name for (name,) in connection.execute(_CHANGING, [table])]
            rows = sql.SQL("SELECT to_jsonb(t) - %s::text[] FROM {} AS t").format(sql.Identifier(table))
            found += sorted(f"{table}: {json.dumps(row)}" for (row,) in connection.execute(rows, [changing]))
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
