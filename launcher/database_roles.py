"""The roles of the embedded PostgreSQL: the tables' owner, the app, the sandbox, the backups. None is a superuser.

The superuser (`postgresql.SUPERUSER`) is for the launcher alone; no process of the app knows its password. `manage.py
grant_app_role` grants the app's role its rights on each table, after the migrations.
"""

from collections.abc import Mapping
from contextlib import closing

import psycopg
from psycopg import Connection, sql

OWNER, APP, SANDBOX = "backoffice_owner", "backoffice_app", "backoffice_sandbox"
BACKUP = "backoffice_backup"  # may copy PostgreSQL's files, and read no table
# The name of each role's password in `secrets.json`
SECRETS = {OWNER: "postgres_owner", APP: "postgres_app", SANDBOX: "postgres_sandbox", BACKUP: "postgres_backup"}
_ATTRIBUTES = sql.SQL("LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS {}")

# Makes the statements that give objects of a superuser, in older data folders, to their new owner.
_FOREIGN = """
SELECT format('ALTER %%s %%I.%%I OWNER TO %%I',
              CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE'
                           ELSE 'TABLE' END, nspname, relname, %(owner)s::text)
  FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
 WHERE nspname = 'public' AND relkind IN ('r', 'p', 'v', 'm', 'S') AND pg_get_userbyid(relowner) <> %(owner)s
       -- the sequence of a column goes with its table
   AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_class.oid AND relkind = 'S' AND deptype IN ('a', 'i'))
   AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_class.oid AND deptype = 'e')
UNION ALL
SELECT format('ALTER ROUTINE %%s OWNER TO %%I', pg_proc.oid::regprocedure, %(owner)s::text)
  FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace
 WHERE nspname = 'public' AND pg_get_userbyid(proowner) <> %(owner)s
   AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
"""


def make_roles(superuser: Connection, passwords: Mapping[str, str]) -> None:
    """Make each role, or restore its attributes and its password."""
    there = {str(row[0]) for row in superuser.execute("SELECT rolname FROM pg_roles")}
    for role, password in passwords.items():
        verb = sql.SQL("ALTER" if role in there else "CREATE")
        attributes = _ATTRIBUTES.format(sql.SQL("REPLICATION" if role == BACKUP else "NOREPLICATION"))
        superuser.execute(
            sql.SQL("{} ROLE {} {} PASSWORD {}").format(verb, sql.Identifier(role), attributes, sql.Literal(password))
        )


def give_database(address: str, owner: str, *, guests: tuple[str, ...] = ()) -> None:
    """Make a role the owner of a database and of all in it; only this role and the `guests` may connect.

    `address`: the database's address for a superuser.
    """
    with closing(psycopg.connect(address, autocommit=True)) as connection, connection.transaction():
        database, role = sql.Identifier(connection.info.dbname), sql.Identifier(owner)
        connection.execute(sql.SQL("ALTER DATABASE {} OWNER TO {}").format(database, role))
        connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(database))
        for guest in guests:
            connection.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(database, sql.Identifier(guest)))
        for (statement,) in connection.execute(_FOREIGN, {"owner": owner}).fetchall():
            connection.execute(sql.SQL(statement))
