"""Refusals of the database itself, declared beside a model (`Meta.triggers`), and pgtrigger's list of them."""

from typing import Any

import pgtrigger
from pgtrigger import Trigger, registry


def never_truncated() -> pgtrigger.Trigger:
    """Refuse TRUNCATE, which fires no triggers on rows."""
    return pgtrigger.Trigger(
        name="never_truncated",
        level=pgtrigger.Statement,
        when=pgtrigger.Before,
        operation=pgtrigger.Truncate,
        func="RAISE EXCEPTION '% is never truncated', TG_TABLE_NAME;",
    )


def append_only() -> list[pgtrigger.Trigger]:
    """Rows are inserted and never changed, deleted or truncated."""
    return [
        pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete),
        never_truncated(),
    ]


def stays_erased() -> pgtrigger.Trigger:
    """A number that was erased is never shown again."""
    return pgtrigger.Protect(
        name="stays_erased",
        operation=pgtrigger.Update,
        condition=pgtrigger.Q(old__number_erased=True, new__number_erased=False),
    )


def own_transaction() -> pgtrigger.Trigger:
    """For a sealed table into which the app inserts: `txid` is always the transaction's number."""
    return pgtrigger.Trigger(
        name="own_transaction",
        when=pgtrigger.Before,
        operation=pgtrigger.Insert,
        condition=pgtrigger.Condition("NEW.txid <> transaction_number()"),
        func="NEW.txid = transaction_number(); RETURN NEW;",
    )


class _Indexed(registry._Registry):
    """pgtrigger's list of all triggers, with indexes.

    For each trigger that a model declares, pgtrigger walks through all earlier ones: with 360 of them a quarter of a
    second of each process's start. It does not promise to keep these names; tests/core/test_trigger_registry.py fails
    when they change.
    """

    def __init__(self) -> None:
        self._by_table: dict[tuple[str, str], Trigger] = {}
        self._functions: set[str] = set()
        super().__init__()

    @property
    def by_db_table(self) -> dict[tuple[str, str], Trigger]:
        """Each trigger by its table and its name."""
        return self._by_table

    @property
    def pg_function_names(self) -> set[str]:
        """The names of their functions in the database."""
        return self._functions

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, value)  # type: ignore[no-untyped-call]
        model, trigger = value
        self._by_table[model._meta.db_table, trigger.name] = trigger
        self._functions.add(trigger.get_pgid(model))

    def __delitem__(self, key: str) -> None:
        model, trigger = self[key]
        super().__delitem__(key)  # type: ignore[no-untyped-call]
        del self._by_table[model._meta.db_table, trigger.name]
        self._functions.discard(trigger.get_pgid(model))


def install_registry() -> None:
    """Let pgtrigger keep its triggers in this list; call it before Django loads any model."""
    registry._registry = _Indexed()
