"""Entries as rows for files that people open in a spreadsheet."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from balance.models import Entry

STATEMENT_COLUMNS = (
    *("id", "at", "kind", "ref_id", "order_kind", "amount", "balance_change", "held_change"),
    *("balance_before", "balance_after", "held_after", "actor", "reason"),
)
# A cell that begins so is run as a formula by spreadsheets.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def statement_row(entry: Entry) -> dict[str, Any]:
    """One entry, keyed by `STATEMENT_COLUMNS`; amounts are whole rupiah, the time is the shop's own."""
    facts = {
        "id": entry.pk,
        "at": timezone.localtime(entry.at).isoformat(timespec="seconds"),
        "actor": entry.actor.get_username() if entry.actor else "",
    }
    return {name: facts[name] if name in facts else getattr(entry, name) for name in STATEMENT_COLUMNS}


def spreadsheet_cell(value: Any) -> Any:
    """The value as a cell: numbers as they are, a text that would be a formula with an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value
