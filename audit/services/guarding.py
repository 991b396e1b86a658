"""Closes the way past triggers that django-pgtrigger offers to any role: the parameter `pgtrigger.ignore`."""

from django.db import connection

_CLOSED = "SELECT false"
_CLOSE = f"""
    CREATE OR REPLACE FUNCTION _pgtrigger_should_ignore(trigger_name NAME) RETURNS boolean LANGUAGE sql
    AS '{_CLOSED}'
"""
_IS_CLOSED = "SELECT bool_and(prosrc = %s) FROM pg_proc WHERE proname = '_pgtrigger_should_ignore'"


def close_way_past_triggers() -> None:
    """Let no trigger be ignored. A migration that makes a trigger opens the way again: call this after migrating."""
    if not is_way_past_triggers_closed():
        with connection.cursor() as cursor:
            cursor.execute(_CLOSE)


def is_way_past_triggers_closed() -> bool:
    """Whether no trigger of ours can be ignored by setting a parameter."""
    with connection.cursor() as cursor:
        cursor.execute(_IS_CLOSED, [_CLOSED])
        return bool(cursor.fetchone()[0])
