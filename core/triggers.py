"""Refusals of the database itself, declared beside a model (`Meta.triggers`)."""

import pgtrigger


def never_truncated() -> pgtrigger.Trigger:
    """TRUNCATE passes triggers on rows; this one stops it."""
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


def own_transaction() -> pgtrigger.Trigger:
    """For a sealed table with inserts by the app: `txid` is always the transaction's number."""
    return pgtrigger.Trigger(
        name="own_transaction",
        when=pgtrigger.Before,
        operation=pgtrigger.Insert,
        condition=pgtrigger.Condition("NEW.txid <> transaction_number()"),
        func="NEW.txid = transaction_number(); RETURN NEW;",
    )
