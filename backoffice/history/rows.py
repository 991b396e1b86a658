"""Rows of many tables as lines of text for COPY."""

from __future__ import annotations

import datetime as dt
from functools import lru_cache
from typing import Any, NamedTuple

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import JSONField, Model

from alerts.models import Alert
from bills.models import BillCheck, Inquiry
from callbacks.models import Callback
from catalogue.models import PriceChange
from core.transactions import TRANSACTION_NUMBER
from customers.models import Customer, SavedNumber
from drawers.models import Payment
from gateway.models import Exchange
from ledger.models import Entry
from purchases.models import Order, OrderEvent, Verdict
from reconciliation.models import Difference, ReconciliationRun

NULL = r"\N"


class Rows:
    """Rows of one table that wait to be copied. `columns`: those that `add` takes, in their order."""

    def __init__(self, model: type[Model], columns: str) -> None:
        fields = {str(field.column): field for field in model._meta.concrete_fields}
        self.table = model._meta.db_table
        names = columns.split()
        # What is never made up has the value that a new row begins with.
        rest = [name for name in fields if name not in names]
        self.columns = [*names, *rest]
        self._rest = "".join("\t" + _begins_with(fields[name]) for name in rest) + "\n"
        self._lines: list[str] = []

    def add(self, *values: Any) -> None:
        """Append one row."""
        self._lines.append("\t".join(map(str, values)) + self._rest)

    def block(self) -> Block:
        """All rows, as COPY takes them."""
        return Block(self.table, self.columns, "".join(self._lines).encode())


class Block(NamedTuple):
    """Rows of a table for one COPY."""

    table: str
    columns: list[str]
    lines: bytes


def _begins_with(field: Any) -> str:
    """The value of a new row, as text. What is made up is not evidence: of no transaction, and never sealed."""
    return "0" if field.db_default is TRANSACTION_NUMBER else _text(field, field.get_default())


def _text(field: Any, value: Any) -> str:
    if value is None:
        return NULL
    return DjangoJSONEncoder().encode(value) if isinstance(field, JSONField) else str(value)


@lru_cache(maxsize=256)
def _minute(number: int) -> str:
    return dt.datetime.fromtimestamp(number * 60, dt.UTC).strftime("%Y-%m-%d %H:%M:")


@lru_cache(maxsize=64)
def moment(at: float) -> str:
    """A moment (seconds since 1970) as PostgreSQL reads it, to the millisecond."""
    minute, milliseconds = divmod(int(at * 1000), 60_000)
    return f"{_minute(minute)}{milliseconds / 1000:06.3f}+00"


class History:
    """The tables that are filled, parents before children."""

    def __init__(self) -> None:
        self.customers = Rows(Customer, "id name note created_at")
        self.numbers = Rows(SavedNumber, "id customer_id destination kind product_id created_at")
        self.payments = Rows(
            Payment,
            "id ref_id seller_id at amount outcome ended_at cost given_at given_by_id given_note",
        )
        self.orders = Rows(
            Order,
            "id payment_id ref_id kind idempotency_key product_id product_code product_name destination max_price price"
            " status action_reason error_code message trx_id sn placed_by_id created_at sent_at final_at attempt"
            " sent_no accepted_no pending_no ended_no polls not_found_count not_found_since next_poll_at",
        )
        self.events = Rows(OrderEvent, "id order_id at from_status to_status source actor_id note raw callback_id")
        self.verdicts = Rows(
            Verdict, "id order_id outcome evidence reason proposed_by_id proposed_at approved_by_id decided_at"
        )
        self.entries = Rows(
            Entry,
            "id kind amount balance_change reserved_change balance_after reserved_after ref_id order_kind actor_id"
            " reason at",
        )
        self.exchanges = Rows(
            Exchange,
            "id answered_no endpoint ref_id sent_at answered_at outcome status trx_id balance http_status latency_ms"
            " waited_ms error",
        )
        self.checks = Rows(
            BillCheck,
            "id ref_id product_id product_code product_name destination order_id answer customer_name period details"
            " months amount admin_fee penalty total expires_at error_code message checked_by_id asked_by_id created_at"
            " answered_at polls",
        )
        self.inquiries = Rows(Inquiry, "id bill_check_id sent_no asked_by_id asked_at answer total error_code raw")
        self.callbacks = Rows(
            Callback,
            "id received_at delivery_id content_hash event ref_id body headers source_address is_signed repeats state"
            " processed_at result next_try_at",
        )
        self.differences = Rows(
            Difference,
            "id amount from_no to_no from_at to_at found_at label state acknowledged_at acknowledged_by_id note"
            " entry_id",
        )
        self.runs = Rows(ReconciliationRun, "id at trigger state readings_evaluated reported expected difference")
        self.alerts = Rows(Alert, "id kind key severity facts opened_at closed_at")
        self.price_changes = Rows(PriceChange, "id product_id at price_before price admin_fee")

    def blocks(self) -> list[Block]:
        """Every table's rows that were added."""
        return [rows.block() for rows in vars(self).values()]

    def tables(self) -> dict[str, str]:
        """The name of each table's rows here → the table."""
        return {name: rows.table for name, rows in vars(self).items()}
