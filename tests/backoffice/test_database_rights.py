"""The role of our processes has exactly these rights on the tests' real database."""

import io

import psycopg
import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from audit.services import close_way_past_triggers
from backoffice import database_rights
from backoffice.database_rights import RIGHTS, excess, grant_rights, lacking
from checks.app_role import REFUSED, not_copied, not_refused
from testing.database import APP_ROLE, app_url

# As the library makes it, and before a start closes it
_OPENED = """
    CREATE OR REPLACE FUNCTION _pgtrigger_should_ignore(trigger_name NAME) RETURNS boolean LANGUAGE plpgsql AS
    'BEGIN RETURN trigger_name::text = ANY (current_setting(''pgtrigger.ignore'', true)::text[]);
     EXCEPTION WHEN others THEN RETURN false; END'
"""
OUTSIDE_MODELS = {"django_migrations", "django_cache"}


def test_every_table_has_a_row_of_rights(transactional_db):
    kept = [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]
    models = {model._meta.db_table for model in kept if not model._meta.proxy}
    with connection.cursor() as cursor:
        cursor.execute(database_rights._TABLES)
        there = {row[0] for row in cursor.fetchall()}

    # a new table: list there what the code does with it, or its pages are refused
    assert models | OUTSIDE_MODELS == set(RIGHTS) == there


def test_the_role_has_its_rights_and_no_more(transactional_db):
    assert list(excess(APP_ROLE)) == []
    assert list(lacking(APP_ROLE)) == []
    assert grant_rights(APP_ROLE) == 0, "a second grant changes nothing"
    with psycopg.connect(app_url()) as connected:
        assert connected.execute("SELECT count(*) FROM ledger_entry").fetchone() == (0,)


def test_a_right_too_many_is_named(db):
    for statement, word in {
        "GRANT DELETE, TRUNCATE ON purchases_order TO {}": "DELETE, TRUNCATE purchases_order",
        "GRANT UPDATE ON ledger_entry TO PUBLIC": "UPDATE ledger_entry",
        "ALTER ROLE {} SUPERUSER": "superuser",
        "GRANT pg_execute_server_program TO {}": "pg_execute_server_program",
        "GRANT CREATE ON SCHEMA public TO {}": "make tables",
        "ALTER TABLE purchases_order OWNER TO {}": "owns purchases_order",
        "ALTER FUNCTION transaction_number() OWNER TO {}": "owns the functions transaction_number",
        "CREATE SCHEMA another AUTHORIZATION {}": "make tables in another",
    }.items():
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement.format(APP_ROLE))
            named = list(excess(APP_ROLE))
            transaction.set_rollback(True)

        assert any(word in words for words in named), statement
        assert list(excess(APP_ROLE)) == []


def test_a_grant_takes_back_too_much_and_a_missing_right_is_named(db):
    with connection.cursor() as cursor:
        cursor.execute(f"GRANT DELETE, TRUNCATE ON purchases_order TO {APP_ROLE}")
        cursor.execute("GRANT UPDATE ON ledger_entry TO PUBLIC")

    grant_rights(APP_ROLE)

    assert list(excess(APP_ROLE)) == []
    with connection.cursor() as cursor:
        cursor.execute(f"REVOKE INSERT ON purchases_order FROM {APP_ROLE}")
    assert list(lacking(APP_ROLE)) == ["may not INSERT purchases_order"]


def test_the_database_itself_refuses_each_dangerous_statement(transactional_db):
    assert len(REFUSED) > 30
    assert list(not_refused(app_url())) == []


def test_a_session_hides_no_write_and_a_way_to_do_so_is_named(transactional_db):
    assert list(not_copied(app_url())) == []
    with connection.cursor() as cursor:
        cursor.execute(_OPENED)
    try:
        assert list(not_copied(app_url())) == ["name all triggers as ignored"]
    finally:
        close_way_past_triggers()


def test_one_role_for_both_is_refused_with_a_sentence(db, settings):
    settings.DATABASE_APP_ROLE = connection.settings_dict["USER"]

    with pytest.raises(CommandError, match="DATABASE_OWNER_URL"):
        call_command("grant_app_role", stdout=io.StringIO())
