"""What one order, bill check or top-up after another leaves behind in the tables.

Each has ended before the next one begins, so that the running sums of the entries follow from one another. Amounts in
rupiah; moments in seconds since 1970.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import dataclass
from itertools import count, product
from random import Random
from typing import Any

from backoffice.history.rows import NULL, History, moment
from backoffice.history.shop import Shop, Ware, name_of
from bills.states import AnswerKind
from callbacks.models import CallbackState
from drawers.models import Outcome
from ledger.models import Entry
from purchases.models import Order, OrderEvent
from purchases.states import ActionReason, Status
from reconciliation.models import Difference, ReconciliationRun
from upstream.endpoints import Endpoint
from upstream.error_codes import ErrorCode

_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
_TRIPLES = ["".join(letters) for letters in product(_ALPHABET, repeat=3)]
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_BILL_SHARE, _POLLED_SHARE = 0.12, 0.3
_LOW = 8_000_000
_TIMEOUT = "OutcomeUnknown: timeout"
# A reading after so many orders: as often as each minute in a busy shop.
_READING_EVERY = 10
_BILL_VALID = 300
# The customer's money is given back by then (seconds).
_OWED_AT_MOST = 30 * 86_400
_SOURCE = OrderEvent.Source
_KIND = Entry.Kind
_REFUSALS = [ErrorCode.INVALID_DESTINATION, ErrorCode.PRODUCT_NOT_FOUND, ErrorCode.INVALID_REQUEST]
_REASONS = [
    (ActionReason.PRICE_CHANGED, ErrorCode.PRICE_CHANGED),
    (ActionReason.CUT_OFF, ErrorCode.CUT_OFF),
    (ActionReason.UNAVAILABLE, ErrorCode.PRODUCT_UNAVAILABLE),
    (ActionReason.BALANCE_SHORT, ErrorCode.INSUFFICIENT_BALANCE),
]
_HEADERS = '{"X-Event": "transaction.%s", "User-Agent": "sandbox/1", "Content-Type": "application/json"}'


@dataclass(kw_only=True)
class Account:
    """Where the books and their comparison stand.

    `no`: the last number that was taken. `full`: what a top-up fills the balance up to. `outside`: the sum of top-ups.
    `quiet`, `quiet_answered`: the two numbers of the last reading.
    """

    no: int
    balance: int
    full: int
    reserved: int = 0
    outside: int = 0
    quiet: int = 0
    quiet_answered: int = 0


@dataclass(frozen=True)
class _Placed:
    """An order whose life is being written."""

    id: int
    ref_id: str
    kind: str
    ware: Ware
    destination: str
    price: int
    cashier: int
    at: float
    trx_id: str
    final_at: float
    # Seconds until its answer, and until its end, for the books: it ends before the next order begins.
    answer: float
    end: float


class Writer:
    """Writes history. `next_ids`: the next free id of each table, by the name of its rows."""

    def __init__(self, shop: Shop, account: Account, next_ids: dict[str, int], *, random: Random, now: float) -> None:
        self.rows = History()
        self.account = account
        self._shop = shop
        self._random = random
        self._now = now
        self._ids = {name: count(first) for name, first in next_ids.items()}

    def open_books(self, at: float) -> None:
        """The opening entry: what the account has before the first order."""
        balance, self.account.balance = self.account.balance, 0
        self._post(_KIND.OPENING, balance, 1, 0, at)

    def order(self, at: float, room: float, outcome: Status, *, waits: bool = False) -> None:
        """One order that is placed at `at` and ends as `outcome`, in less than `room` seconds for the books.

        `waits`: it seems never to have arrived, instead of needing action for another reason.
        """
        if self.account.balance < _LOW:
            self.top_up(at)
        placed = self._place(at, room, is_open=outcome == Status.NEEDS_ACTION)
        if outcome == Status.CANCELLED:
            self._cancel(placed)
        elif outcome == Status.CLOSED or waits:
            self._lose(placed, outcome)
        elif outcome in {Status.REJECTED, Status.NEEDS_ACTION}:
            self._refuse(placed, outcome)
        else:
            self._accept(placed, outcome)
        if placed.id % _READING_EVERY == 0:
            self.read_balance(at + room * 0.9)

    def unpaid_check(self, at: float) -> None:
        """A bill that nobody pays, or that the biller refuses."""
        ware = self._shop.billers.pick()
        cashier = self._shop.cashiers.pick()
        destination = self._shop.destination(ware, self._random)
        self._check(at, ware, destination, cashier, self._ref_id(at), is_refused=self._random.random() < 0.3)

    def read_balance(self, at: float) -> None:
        """A balance request while nothing is under way: reconciliation compares it with the books."""
        account, sent_no, answered_no = self.account, self._number(), self._number()
        self._exchange(sent_no, answered_no, Endpoint.BALANCE, "", at, balance=account.balance)
        account.quiet, account.quiet_answered = sent_no, answered_no
        self.rows.runs.add(
            next(self._ids["runs"]), moment(at + 0.2), ReconciliationRun.Trigger.READING,
            ReconciliationRun.Result.BALANCED, 1, account.balance, account.balance, 0,
        )  # fmt: skip

    def top_up(self, at: float) -> None:
        """Money is paid in between two readings until the balance is full; an admin acknowledges it."""
        account, admin, stamp = self.account, self._shop.first_admin, moment(at)
        amount = account.full - account.balance
        if not amount:
            return
        self.read_balance(at)
        from_no, pk = account.quiet, next(self._ids["differences"])
        account.balance += amount
        account.outside += amount
        self.read_balance(at)
        account.balance -= amount
        entry = self._post(_KIND.TOPUP, amount, 1, 0, at, actor=admin, reason="Transfer BCA")
        self.rows.differences.add(
            pk, amount, from_no, account.quiet_answered, stamp, stamp, stamp, Difference.Label.TOPUP,
            Difference.State.ACKNOWLEDGED, stamp, admin, "Transfer BCA", entry,
        )  # fmt: skip

    def _place(self, at: float, room: float, *, is_open: bool) -> _Placed:
        random, shop = self._random, self._shop
        ref_id, cashier = self._ref_id(at), shop.cashiers.pick()
        kind = Order.Kind.BILL.value if random.random() < _BILL_SHARE and not is_open else Order.Kind.PURCHASE.value
        ware = (shop.billers if kind == Order.Kind.BILL else shop.products).pick()
        pk = next(self._ids["orders"])
        # An open one is the only one of its product and number.
        destination = f"0811{pk:08d}" if is_open else shop.destination(ware, random)
        price = ware.price
        if kind == Order.Kind.BILL:
            price = self._check(at - 40, ware, destination, cashier, ref_id, is_paid=True)
        placed = _Placed(
            pk, ref_id, kind, ware, destination, price, cashier, at, f"TRX{pk:012d}",
            at + min(2 + random.expovariate(0.1), 55), min(0.4, room * 0.3), min(8, room * 0.6),
        )  # fmt: skip
        self._event(placed, at, "", Status.QUEUED, _SOURCE.STAFF, actor=cashier)
        self._post(_KIND.HOLD, price, 0, 1, at, order=placed, actor=cashier)
        return placed

    def _send(self, placed: _Placed) -> int:
        self._event(placed, placed.at + 0.1, Status.QUEUED, Status.SENDING, _SOURCE.SUBMIT)
        return self._number()

    def _accept(self, placed: _Placed, outcome: Status) -> None:
        """The upstream takes the order, and reports its end by a callback."""
        sent_no, answered_no, answered = self._send(placed), self._number(), placed.at + placed.answer
        accepted_no, pending_no, polls = self._number(), sent_no, 0
        self._event(placed, answered, Status.SENDING, Status.PENDING, _SOURCE.SUBMIT, note="Transaksi diproses")
        self._post(_KIND.RELEASE, placed.price, 0, -1, answered, order=placed)
        self._post(_KIND.DEBIT, placed.price, -1, 0, answered, order=placed, actor=placed.cashier)
        endpoint = Endpoint.BILL_PAY if placed.kind == Order.Kind.BILL else Endpoint.TRANSACTION_CREATE
        self._exchange(
            sent_no, answered_no, endpoint, placed.ref_id, placed.at + 0.1, status=Status.PENDING,
            trx_id=placed.trx_id, balance=self.account.balance,
        )  # fmt: skip
        if self._random.random() < _POLLED_SHARE:
            pending_no, polls = self._number(), 1
            self._exchange(
                pending_no, self._number(), Endpoint.TRANSACTION_STATUS, placed.ref_id, placed.at + 3,
                status=Status.PENDING, trx_id=placed.trx_id, balance=self.account.balance,
            )  # fmt: skip
        ended_no, final_at = self._number(), placed.final_at
        reported = Status.FAILED if outcome == Status.FAILED else Status.SUCCESS
        sn = "" if reported == Status.FAILED else self._serial_number(placed.ware)
        message = "Transaksi gagal" if reported == Status.FAILED else "Transaksi berhasil"
        body = self._callback(placed, reported, sn, message)
        self._event(
            placed, final_at, Status.PENDING, reported, _SOURCE.CALLBACK, note=message, raw=body,
            callback=self._last_callback,
        )  # fmt: skip
        if reported == Status.FAILED:
            self._post(_KIND.REFUND, placed.price, 1, 0, placed.at + placed.end, order=placed, actor=placed.cashier)
        if outcome == Status.REVERSED:
            ended_no, final_at = self._reverse(placed)
        self._order(
            placed, outcome, sent_no=sent_no, accepted_no=accepted_no, pending_no=pending_no, ended_no=ended_no,
            final_at=moment(final_at), polls=polls, price=placed.price, trx_id=placed.trx_id, sn=sn, message=message,
        )  # fmt: skip

    def _reverse(self, placed: _Placed) -> tuple[int, float]:
        """The upstream takes a success back; two people say so."""
        at, first, second = placed.final_at, self._shop.first_admin, self._shop.second_admin
        ended_no = self._number()
        self._event(placed, at, Status.SUCCESS, Status.REVERSED, _SOURCE.STAFF, actor=second, note="Token ditarik")
        self._post(
            _KIND.REVERSAL, placed.price, 1, 0, placed.at + placed.end, order=placed, actor=second, reason="reversed"
        )
        self.rows.verdicts.add(
            next(self._ids["verdicts"]), placed.id, Status.REVERSED, "Dasbor pemasok", "Ditarik oleh pemasok", first,
            moment(at), second, moment(at),
        )  # fmt: skip
        return ended_no, at

    def _payment(self, placed: _Placed, status: Status, ended_at: str) -> int:
        """How it was paid. Nobody has a drawer open; lately some customers of what was reversed wait for the money."""
        pk, given = next(self._ids["payments"]), (NULL, NULL, "")
        outcome, cost = Outcome.OPEN if ended_at == NULL else Outcome.NOTHING, NULL
        if status in {Status.SUCCESS, Status.REVERSED}:
            outcome, cost = Outcome.KEPT, str(placed.price)
        if status == Status.REVERSED:
            is_old = placed.final_at < self._now - _OWED_AT_MOST
            outcome = Outcome.GIVEN if is_old or self._random.random() < 0.9 else Outcome.OWED
        if outcome == Outcome.GIVEN:
            given = (ended_at, str(placed.cashier), "Tunai di kasir")
        self.rows.payments.add(
            pk, placed.ref_id, placed.cashier, moment(placed.at), placed.price, outcome.value, ended_at, cost, *given
        )
        return pk

    def _refuse(self, placed: _Placed, outcome: Status) -> None:
        """A definite no: nothing was charged. It is rejected, or a person can do something about it."""
        sent_no, at = self._send(placed), placed.at + placed.answer
        reason, code = self._random.choice(_REASONS)
        facts: dict[str, Any] = {"action_reason": reason.value}
        if outcome == Status.REJECTED:
            code = self._random.choice(_REFUSALS)
            facts = {"final_at": moment(at), "ended_no": self._number()}
        endpoint = Endpoint.BILL_PAY if placed.kind == Order.Kind.BILL else Endpoint.TRANSACTION_CREATE
        self._exchange(sent_no, NULL, endpoint, placed.ref_id, placed.at + 0.1, outcome=f"Rejected: {code}")
        self._event(placed, at, Status.SENDING, outcome, _SOURCE.SUBMIT, note=code)
        why = str(facts.get("action_reason", outcome.value))
        self._post(_KIND.RELEASE, placed.price, 0, -1, at, order=placed, reason=why)
        self._order(placed, outcome, error_code=code, message="Ditolak pemasok", **facts)

    def _cancel(self, placed: _Placed) -> None:
        at, cashier = placed.at + placed.answer, placed.cashier
        self._event(placed, at, Status.QUEUED, Status.CANCELLED, _SOURCE.STAFF, actor=cashier)
        self._post(_KIND.RELEASE, placed.price, 0, -1, at, order=placed, actor=cashier, reason="cancelled")
        ended_no = self._number()
        self._order(placed, Status.CANCELLED, final_at=moment(at), ended_no=ended_no, sent_at=NULL, attempt=0)

    def _lose(self, placed: _Placed, outcome: Status) -> None:
        """It seems never to have arrived: a person closes it, or has not decided yet."""
        sent_no, at, admin = self._send(placed), placed.at + placed.answer, self._shop.first_admin
        code = ErrorCode.TRANSACTION_NOT_FOUND
        self._exchange(sent_no, NULL, Endpoint.TRANSACTION_CREATE, placed.ref_id, at, outcome=_TIMEOUT)
        self._event(placed, at, Status.SENDING, Status.UNKNOWN, _SOURCE.SUBMIT)
        self._event(placed, at, Status.UNKNOWN, Status.NEEDS_ACTION, _SOURCE.POLL)
        facts: dict[str, Any] = {"sent_no": sent_no, "polls": 3, "not_found_count": 3, "not_found_since": moment(at)}
        if outcome == Status.CLOSED:
            ended_no = self._number()
            self._event(placed, at, Status.NEEDS_ACTION, Status.CLOSED, _SOURCE.STAFF, actor=admin)
            self._post(_KIND.RELEASE, placed.price, 0, -1, at, order=placed, actor=admin, reason="closed")
            self._order(placed, outcome, error_code=code, final_at=moment(at), ended_no=ended_no, **facts)
            return
        due, reason = moment(self._now + 600), ActionReason.NEVER_ARRIVED.value
        self._order(placed, outcome, error_code=code, action_reason=reason, next_poll_at=due, **facts)

    def _order(
        self, placed: _Placed, status: Status, *, final_at: str = NULL, ended_no: int | str = NULL,
        sent_no: int | str = NULL, accepted_no: int | str = NULL, pending_no: int | str = NULL,
        price: int | str = NULL, action_reason: str = "", error_code: str = "", message: str = "", trx_id: str = "",
        sn: str = "", sent_at: str = "", attempt: int = 1, polls: int = 0, not_found_count: int = 0,
        not_found_since: str = NULL, next_poll_at: str = NULL,
    ) -> None:  # fmt: skip
        ware = placed.ware
        key = f"bill-{placed.ref_id}" if placed.kind == Order.Kind.BILL else f"{self._random.getrandbits(128):032x}"
        self.rows.orders.add(
            placed.id, self._payment(placed, status, final_at), placed.ref_id, placed.kind, key, ware.id, ware.code,
            ware.name, placed.destination,
            placed.price, price, status.value, action_reason, error_code, message, trx_id, sn, placed.cashier,
            moment(placed.at), sent_at or moment(placed.at + 0.1), final_at, attempt, sent_no, accepted_no,
            pending_no, ended_no, polls, not_found_count, not_found_since, next_poll_at,
        )  # fmt: skip

    def _event(
        self, placed: _Placed, at: float, before: str, after: Status, source: OrderEvent.Source, *,
        actor: int | str = NULL, note: str = "", raw: str = NULL, callback: int | str = NULL,
    ) -> None:  # fmt: skip
        before = before.value if isinstance(before, Status) else before
        self.rows.events.add(
            next(self._ids["events"]), placed.id, moment(at), before, after.value, source.value, actor, note, raw,
            callback,
        )  # fmt: skip

    def _post(
        self, kind: Entry.Kind, amount: int, balance_sign: int, reserved_sign: int, at: float, *,
        order: _Placed | None = None, actor: int | str = NULL, reason: str = "",
    ) -> int:  # fmt: skip
        account, pk = self.account, self._number()
        account.balance += amount * balance_sign
        account.reserved += amount * reserved_sign
        self.rows.entries.add(
            pk, kind.value, amount, amount * balance_sign, amount * reserved_sign, account.balance, account.reserved,
            order.ref_id if order else "", order.kind if order else "", actor, reason, moment(at),
        )  # fmt: skip
        return pk

    def _exchange(
        self, sent_no: int, answered_no: int | str, endpoint: Endpoint, ref_id: str, at: float, *,
        outcome: str = "answer", status: str = "", trx_id: str = "", balance: int | str = NULL,
    ) -> None:  # fmt: skip
        answered_at = NULL if answered_no == NULL else moment(at + 0.2)
        status = status.value if isinstance(status, Status) else status
        # A refusal is answered too; what had no answer was given up.
        error, is_lost = "" if outcome == "answer" else outcome, outcome == _TIMEOUT
        http_status, latency = (NULL, 15_000) if is_lost else (400 if error else 200, 200)
        self.rows.exchanges.add(
            sent_no, answered_no, endpoint.value, ref_id, moment(at), answered_at, outcome, status, trx_id, balance,
            http_status, latency, 0, error,
        )  # fmt: skip

    def _callback(self, placed: _Placed, status: Status, sn: str, message: str) -> str:
        at, ware, said_sn = placed.final_at, placed.ware, f'"{sn}"' if sn else "null"
        self._last_callback = next(self._ids["callbacks"])
        body = (
            f'{{"event":"transaction.{status.value}","timestamp":"{moment(at)[:19].replace(" ", "T")}+00:00","data":'
            f'{{"trx_id":"{placed.trx_id}","ref_id":"{placed.ref_id}",{ware.wire},'
            f'"destination":"{placed.destination}","price":{placed.price},'
            f'"status":"{status.value}","sn":{said_sn},"message":"{message}",'
            f'"balance":{self.account.balance}}}}}'
        )
        raw, bits = body.encode(), f"{self._random.getrandbits(128):032x}"
        stamp = moment(at)
        self.rows.callbacks.add(
            self._last_callback, stamp, f"{bits[:8]}-{bits[8:12]}-{bits[12:16]}-{bits[16:20]}-{bits[20:]}",
            hashlib.sha256(raw).hexdigest(), f"transaction.{status.value}", placed.ref_id, rf"\\x{raw.hex()}",
            _HEADERS % status.value, "127.0.0.1", "t", int(self._random.random() < 0.01), CallbackState.APPLIED.value,
            stamp, f"pending → {status.value}", stamp,
        )  # fmt: skip
        return body.replace("\\", r"\\")

    def _check(
        self, at: float, ware: Ware, destination: str, cashier: int, ref_id: str, *, is_paid: bool = False,
        is_refused: bool = False,
    ) -> int:  # fmt: skip
        """A bill check with its inquiry; the total in rupiah."""
        pk, sent_no, stamp = next(self._ids["checks"]), self._number(), moment(at)
        amount = self._random.randrange(30, 900) * 1_000
        total = amount + ware.admin_fee
        day = dt.datetime.fromtimestamp(at, dt.UTC)
        period = f"{_MONTHS[day.month - 1]} {day.year}"
        answer = AnswerKind.REFUSAL if is_refused else AnswerKind.BILL
        code = ErrorCode.BILL_NOT_AVAILABLE.value if is_refused else ""
        self._exchange(
            sent_no, NULL if is_refused else self._number(), Endpoint.BILL_INQUIRY, ref_id, at,
            outcome=f"Rejected: {code}" if is_refused else "answer", status="" if is_refused else "valid",
        )  # fmt: skip
        details = f'[{{"period": "{period}", "amount": {amount}, "penalty": 0}}]'
        bill = (
            (NULL, "", "", "[]", "{}", NULL, NULL, NULL, NULL, NULL)
            if is_refused
            else (
                ref_id if is_paid else NULL, name_of(int(destination[-6:]) if destination[-6:].isdecimal() else 0),
                period, details, f'{{"{period}"}}', amount, ware.admin_fee, 0, total, moment(at + _BILL_VALID),
            )
        )  # fmt: skip
        order, name, *rest = bill
        self.rows.checks.add(
            pk, ref_id, ware.id, ware.code, ware.name, destination, order, answer.value, name, *rest, code, "",
            cashier, cashier, stamp, moment(at + 0.5), 1,
        )  # fmt: skip
        self.rows.inquiries.add(
            next(self._ids["inquiries"]), pk, sent_no, cashier, stamp, answer.value,
            NULL if is_refused else total, code, NULL,
        )  # fmt: skip
        return total

    def _serial_number(self, ware: Ware) -> str:
        digits = f"{self._random.getrandbits(66):020d}"
        return f"{digits}/PELANGGAN {digits[:4]}/R1/1300" if ware.kind == "meter" else digits[:16]

    def _ref_id(self, at: float) -> str:
        bits, fourth = divmod(self._random.getrandbits(47), 30)
        bits, third = divmod(bits, len(_TRIPLES))
        bits, second = divmod(bits, len(_TRIPLES))
        letters = _TRIPLES[bits % len(_TRIPLES)] + _TRIPLES[second] + _TRIPLES[third] + _ALPHABET[fourth]
        return f"B{moment(at)[2:10].replace('-', '')}-{letters}"

    def _number(self) -> int:
        self.account.no += 1
        return self.account.no
