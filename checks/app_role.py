"""`python -m checks.app_role`: tries on a real PostgreSQL what the role of our processes must not do.

It starts a throw-away server, migrates it as the owner and grants the rights as a start does. Then it tries each
statement of `REFUSED` as the app's role: PostgreSQL itself must refuse it for want of a right, before any trigger runs.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.errors import InsufficientPrivilege

from checks.server import throw_away_server
from launcher import PYTHON, ROOT
from launcher.database_roles import APP, OWNER

DATABASE = "backoffice"
_OWNER = "SELECT tableowner::text FROM pg_tables WHERE tablename = 'ledger_entry'"
REFUSED = {
    "run a program": "COPY staff_user TO PROGRAM 'cat'",
    "read a file of the server": "COPY django_cache FROM '/etc/passwd'",
    "write a file of the server": "COPY staff_user TO '/tmp/staff'",
    "read a file by a function": "SELECT pg_read_file('/etc/passwd')",
    "keep triggers from firing": "SET session_replication_role = replica",
    "switch a trigger off": "ALTER TABLE ledger_entry DISABLE TRIGGER USER",
    "take a trigger away": "DROP TRIGGER pgtrigger_what_came_in_never_changes_46bb3 ON callbacks_callback",
    "make a function": "CREATE FUNCTION harmless() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "replace a trigger's function": "CREATE OR REPLACE FUNCTION pgtrigger_append_only_00dfa() RETURNS trigger"
    " LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    "number transactions itself": "CREATE OR REPLACE FUNCTION transaction_number() RETURNS bigint LANGUAGE sql"
    " AS 'SELECT 1::bigint'",
    "take the numbers of transactions away": "DROP FUNCTION transaction_number() CASCADE",
    "change how transactions are numbered": "ALTER FUNCTION transaction_number() SET search_path = pg_temp",
    "open the way past triggers": "CREATE OR REPLACE FUNCTION _pgtrigger_should_ignore(trigger_name name)"
    " RETURNS boolean LANGUAGE sql AS 'SELECT true'",
    "hide a function behind a temporary one": "CREATE FUNCTION pg_temp.transaction_number() RETURNS bigint"
    " LANGUAGE sql AS 'SELECT 1::bigint'",
    "hide a table behind a temporary one": "CREATE TEMPORARY TABLE audit_sealing (size bigint)",
    "hide a table behind a temporary view": "CREATE TEMPORARY VIEW audit_sealing AS SELECT 1 AS size",
    "change a column's default": "ALTER TABLE ledger_entry ALTER txid SET DEFAULT 1",
    "make a table": "CREATE TABLE another (id int)",
    "make a temporary table": "CREATE TEMPORARY TABLE another (id int)",
    "make a schema": "CREATE SCHEMA another",
    "change a table": "ALTER TABLE purchases_order ADD COLUMN another int",
    "drop a table": "DROP TABLE purchases_order",
    "empty a table": "TRUNCATE purchases_order CASCADE",
    "make an index": "CREATE INDEX ON purchases_order (price)",
    "make a superuser": "CREATE ROLE another SUPERUSER",
    "become a superuser": "ALTER ROLE CURRENT_USER SUPERUSER",
    "become the owner": f"SELECT set_config('role', ({_OWNER}), false)",
    "become the owner of the database": "SET ROLE pg_database_owner",
    "sign in as somebody else meanwhile": f"SELECT set_config('session_authorization', ({_OWNER}), false)",
    "make a database": "CREATE DATABASE another",
    "change the server's settings": "ALTER SYSTEM SET fsync = off",
    "delete orders": "DELETE FROM purchases_order",
    "delete callbacks": "DELETE FROM callbacks_callback",
    "delete people": "DELETE FROM staff_user",
    "rewrite entries": "UPDATE ledger_entry SET amount = amount",
    "delete entries": "DELETE FROM ledger_entry",
    "rewrite a closed day": "UPDATE ledger_closedday SET day = day",
    "rewrite a timeline": "UPDATE purchases_orderevent SET at = at",
    "delete from a timeline": "DELETE FROM purchases_orderevent",
    "rewrite what the upstream said": "UPDATE gateway_exchange SET id = id",
    "delete what the upstream said": "DELETE FROM bills_inquiry",
    "rewrite an inquiry": "UPDATE bills_inquiry SET id = id",
    "rewrite what somebody did": "UPDATE audit_auditevent SET at = at",
    "delete what somebody did": "DELETE FROM audit_auditevent",
    "change what a role may do": "INSERT INTO django_content_type (app_label, model) VALUES ('a', 'b')",
    "claim that a migration ran": "DELETE FROM django_migrations",
    "set a sequence back": "SELECT setval(pg_get_serial_sequence('gateway_exchange', 'id'), 1)",
}
# Session settings that must not hide a write: after each, a write is refused, or copied with its transaction's number.
WAYS_PAST = {
    "name all triggers as ignored": "SELECT set_config('pgtrigger.ignore', array_agg(tgname)::text, false)"
    " FROM pg_trigger",
    "look into no schema": "SET search_path = ''",
    "look into the own schema first": "SET search_path = pg_temp, public, pg_catalog",
    "look into the server's schemas first": "SET search_path = information_schema, pg_catalog, public",
    "say that nobody writes": "SET pghistory.context_metadata = ''",
    "check no body of a function": "SET check_function_bodies = off",
}
_WRITE = "INSERT INTO public.customers_customer (name, note, created_at) VALUES ('x', '', now()) RETURNING id"
_IS_COPIED = """
    SELECT FROM public.customers_customerhistory WHERE pgh_obj_id = %s AND txid = pg_current_xact_id()::text::bigint
"""
_ALONE = ("CREATE DATABASE", "ALTER SYSTEM")  # they cannot run in a transaction
# One Python for all three: each start of Django costs a second
_PREPARE = (
    "import django; from django.core.management import call_command; django.setup(); "
    "[call_command(name, verbosity=0) for name in ('migrate', 'createcachetable', 'grant_app_role')]"
)


def main() -> int:
    """Print each statement that was not refused; 1 when there is any."""
    with prepared_database() as address:
        allowed = [*not_refused(address), *not_copied(address)]
    for words in allowed:
        print(f"The app's role was not refused for want of a right: {words}")
    if not allowed:
        print(f"All of {len(REFUSED)} statements were refused; none of {len(WAYS_PAST)} settings hides a write.")
    return 1 if allowed else 0


def not_refused(address: str) -> Iterator[str]:
    """The statements of `REFUSED` that a role may run, or that fail for another reason. They are rolled back."""
    for words, statement in REFUSED.items():
        try:
            with psycopg.connect(address, autocommit=statement.startswith(_ALONE)) as connection:
                connection.execute(statement.encode())
                connection.rollback()
        except InsufficientPrivilege:
            continue
        except psycopg.Error as error:
            yield f"{words} ({type(error).__name__}: {error})"
        else:
            yield words


def not_copied(address: str) -> Iterator[str]:
    """The settings of `WAYS_PAST` after which a role writes without a copy. The writes are rolled back."""
    for words, statement in WAYS_PAST.items():
        with psycopg.connect(address) as connection:
            connection.execute(statement.encode())
            try:
                row = connection.execute(_WRITE).fetchone()
                is_copied = row and connection.execute(_IS_COPIED, row).fetchone() is not None
            except psycopg.Error:
                is_copied = True  # refused: nothing was written
            connection.rollback()
        if not is_copied:
            yield words


@contextmanager
def prepared_database() -> Iterator[str]:
    """The address, as the app's role, of a throw-away database with all tables and rights."""
    with throw_away_server(DATABASE) as server:
        server.set_up_roles({DATABASE: OWNER}, guests={DATABASE: (APP,)})
        addresses = {"DATABASE_URL": server.url(DATABASE, APP), "DATABASE_OWNER_URL": server.url(DATABASE, OWNER)}
        environment = {**os.environ, **addresses, "DATABASE_AS_OWNER": "1"}
        subprocess.run([str(PYTHON), "-c", _PREPARE], check=True, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        yield addresses["DATABASE_URL"]


if __name__ == "__main__":
    sys.exit(main())
