"""Inquiries of bills, and their payment (document, /v1/bill/pay and Bill inquiry)."""

import itertools
import random
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction as database
from django.utils import timezone

from sandbox.errors import ApiError, ErrorCode, NotPossible
from sandbox.models import Inquiry, Product, Transaction
from sandbox.scenarios import Answer, Scenario, scenario_for
from sandbox.services.account import lock_account
from sandbox.services.catalogue import check_destination, sellable
from sandbox.services.playing import in_transaction, play, sped
from sandbox.services.purchases import accept

INQUIRY = "/v1/bill/inquiry"
PAY = "/v1/bill/pay"
# seconds that a valid inquiry can be paid
VALID_SECONDS = 300.0
MONTHS = ("Jan", "Feb", "Mar", "Apr", "Mei", "Jun", "Jul", "Agu", "Sep", "Okt", "Nov", "Des")
CUSTOMERS = (
    "ADE SETIAWAN", "AGUS PRASETYO", "AYU LESTARI", "BUDI SANTOSO", "DEWI ANGGRAINI", "DIAN PERMATA SARI",
    "EKO WAHYUDI", "FITRI HANDAYANI", "HENDRA GUNAWAN", "I MADE SUARDANA", "INDAH KURNIAWATI", "JOKO SUSILO",
    "KARTINI SIREGAR", "LINA MARLINA", "MUHAMMAD RIZKI", "NURUL HIDAYAH", "PUTRI RAHMAWATI", "RATNA WULANDARI",
    "RUDI HARTONO", "SITI AMINAH", "TONO SUPRAPTO", "UMAR FARUQ", "VINA OKTAVIANI", "WAHYU NUGROHO", "YUSUF HABIBIE",
    "ZAINAL ARIFIN",
)  # fmt: skip


@database.atomic
def inquire(*, ref_id: str, product_code: str, destination: str) -> tuple[Inquiry, Answer]:
    """Inquire a bill, or return the stored result of the identical inquiry; also returns how to send the answer.

    Raises ApiError: DUPLICATE_REF_ID, PRODUCT_NOT_FOUND, PRODUCT_UNAVAILABLE, CUT_OFF, INVALID_DESTINATION,
    BILL_NOT_AVAILABLE, BILL_ALREADY_PAID.
    """
    lock_account()
    inquiry = Inquiry.objects.select_related("product").filter(ref_id=ref_id).first()
    if inquiry is not None:
        if (inquiry.product.product_code, inquiry.destination) != (product_code, destination):
            raise ApiError(ErrorCode.DUPLICATE_REF_ID)
        _become_valid(inquiry)
        return inquiry, Answer.PLAIN
    if Transaction.objects.filter(ref_id=ref_id).exists():
        raise ApiError(ErrorCode.DUPLICATE_REF_ID)
    product = sellable(product_code, "postpaid")
    check_destination(product, destination)
    scenario = scenario_for("bill", destination)
    if scenario is not None and scenario.inquiry_refusal is not None:
        raise ApiError(scenario.inquiry_refusal)
    # a magic customer who has paid has the next month's bill, so that a scenario can be tried again
    paid = _paid_months(product_code, destination, ["success"])
    bill = _bill(product, destination, timezone.now(), paid=paid, goes_on=scenario is not None)
    if bill is None:
        raise ApiError(ErrorCode.BILL_ALREADY_PAID)
    inquiry = _store(ref_id, product, destination, bill, scenario)
    _become_valid(inquiry)
    return inquiry, scenario.inquiry_answer if scenario else Answer.PLAIN


def _store(ref_id: str, product: Product, destination: str, bill: dict[str, Any], scenario: Scenario | None) -> Inquiry:
    now = timezone.now()
    pending = scenario.inquiry_pending if scenario else 0.0
    valid = scenario.inquiry_valid if scenario else None
    return Inquiry.objects.create(
        ref_id=ref_id,
        product=product,
        destination=destination,
        scenario=scenario.number if scenario else None,
        status="pending",
        # only a scenario's seconds are divided by the speed; the usual five minutes stay
        valid_seconds=VALID_SECONDS if valid is None else sped(valid).total_seconds(),
        created_at=now,
        valid_at=None if pending is None else now + sped(pending),
        **bill,
    )


def _become_valid(inquiry: Inquiry) -> None:
    """Set a pending inquiry to valid if its time has come. Call it under the account's lock."""
    if inquiry.status != "pending" or inquiry.valid_at is None or inquiry.valid_at > timezone.now():
        return
    inquiry.status = "valid"
    expires_at = inquiry.valid_at + timedelta(seconds=inquiry.valid_seconds)
    # rounded up: the wire shows whole seconds, and until then the bill must be payable
    inquiry.expires_at = (expires_at + timedelta(microseconds=999_999)).replace(microsecond=0)
    inquiry.save(update_fields=["status", "valid_at", "expires_at"])


@database.atomic
def complete_inquiry(ref_id: str) -> None:
    """Make a pending inquiry valid now. Raises NotPossible without one."""
    lock_account()
    inquiry = Inquiry.objects.filter(ref_id=ref_id, status="pending").first()
    if inquiry is None:
        raise NotPossible("nothing with this ref_id is pending")
    inquiry.valid_at = timezone.now()
    _become_valid(inquiry)


@in_transaction
def pay(*, ref_id: str, amount: int | None = None) -> tuple[Transaction, Answer]:
    """Pay an inquired bill once, or return its payment (document, /v1/bill/pay 1–8); also how to send the answer.

    `amount` in rupiah. Raises the errors of the destination's scenario, and ApiError: BILL_NOT_FOUND, INQUIRY_PENDING,
    INQUIRY_EXPIRED, AMOUNT_MISMATCH, BILL_ALREADY_PAID, PRODUCT_UNAVAILABLE, CUT_OFF, INSUFFICIENT_BALANCE.
    """
    account = lock_account()
    inquiry = Inquiry.objects.select_related("product").filter(ref_id=ref_id).first()
    if inquiry is None:
        raise ApiError(ErrorCode.BILL_NOT_FOUND)
    _become_valid(inquiry)
    existing = Transaction.objects.filter(ref_id=ref_id).first()
    if existing is not None:
        if amount not in (None, existing.price):
            raise ApiError(ErrorCode.AMOUNT_MISMATCH)
        return existing, Answer.PLAIN
    if inquiry.status == "pending":
        raise ApiError(ErrorCode.INQUIRY_PENDING)
    scenario = scenario_for("bill", inquiry.destination)
    if scenario is not None:
        _, is_first = play(scenario, PAY, {"ref_id": ref_id, "amount": amount})
        if scenario.rise and is_first:
            _raise_total(inquiry, scenario.rise)
    _check_payable(inquiry, amount, magic=scenario is not None)
    if account.balance < inquiry.total:
        raise ApiError(ErrorCode.INSUFFICIENT_BALANCE)
    return accept(
        account,
        kind="bill",
        ref_id=inquiry.ref_id,
        product=inquiry.product,
        destination=inquiry.destination,
        price=inquiry.total,
        scenario=scenario,
    )


def _raise_total(inquiry: Inquiry, rise: int) -> None:
    inquiry.penalty += rise
    inquiry.total += rise
    inquiry.details[-1]["penalty"] += rise
    inquiry.save(update_fields=["penalty", "total", "details"])


def _check_payable(inquiry: Inquiry, amount: int | None, *, magic: bool) -> None:
    if inquiry.expires_at is None or inquiry.expires_at <= timezone.now():
        raise ApiError(ErrorCode.INQUIRY_EXPIRED)
    if amount is not None and amount != inquiry.total:
        raise ApiError(ErrorCode.AMOUNT_MISMATCH)
    product = sellable(inquiry.product.product_code, "postpaid")
    # an open payment does not stop a magic customer, so that a scenario can be tried again
    paid = _paid_months(product.product_code, inquiry.destination, ["success"] if magic else ["pending", "success"])
    if any(line["period"] in paid for line in inquiry.details):
        raise ApiError(ErrorCode.BILL_ALREADY_PAID)


def _paid_months(product_code: str, destination: str, statuses: list[str]) -> set[str]:
    """The months of this customer's bills ("Nov 2026") that payments in these statuses cover."""
    payments = Transaction.objects.filter(
        kind="bill", product_code=product_code, destination=destination, status__in=statuses
    )
    details = Inquiry.objects.filter(ref_id__in=payments.values("ref_id")).values_list("details", flat=True)
    return {line["period"] for lines in details for line in lines}


def _bill(product: Product, destination: str, at: datetime, *, paid: set[str], goes_on: bool) -> dict[str, Any] | None:
    """The customer's bill: name, the months after the last one `paid`, amounts in rupiah; the same during a month.

    A customer keeps the name, and a month its amount. A month that was once paid elsewhere is never billed again.
    If all months are paid: None, or the bill of the next month if it `goes_on`.
    """
    customer = f"{product.product_code}:{destination}"
    dice = random.Random(customer)  # noqa: S311
    customer_name, usual = dice.choice(CUSTOMERS), dice.randrange(35_000, 650_000, 50)
    today = timezone.localtime(at).date()
    now = today.year * 12 + today.month - 1

    def is_owed(month: int) -> bool:
        return _label(month) not in paid and now - month <= _month(customer, month)[1]

    owed = list(itertools.takewhile(is_owed, itertools.count(now, -1)))[::-1]
    if not owed:
        if not goes_on:
            return None
        owed = [next(month for month in itertools.count(now + 1) if _label(month) not in paid)]
    amounts = {month: usual + _month(customer, month)[0] for month in owed}
    details: list[dict[str, Any]] = [
        {"period": _label(month), "amount": amounts[month], "penalty": 3_000 * max(0, now - month)} for month in owed
    ]
    amount: int = sum(line["amount"] for line in details)
    penalty: int = sum(line["penalty"] for line in details)
    first, last = details[0]["period"], details[-1]["period"]
    return {
        "customer_name": customer_name,
        "amount": amount,
        "admin_fee": product.admin_fee,
        "penalty": penalty,
        "total": amount + product.admin_fee + penalty,
        "period": first if first == last else f"{first} – {last}",
        "details": details,
    }


def _month(customer: str, month: int) -> tuple[int, int]:
    """How far a month is from the customer's usual amount (rupiah), and the months after which it is paid elsewhere."""
    dice = random.Random(f"{customer}:{month}")  # noqa: S311
    return 50 * dice.randrange(-200, 200), dice.choices((0, 1, 2), weights=(75, 10, 15))[0]


def _label(month: int) -> str:
    """A month, counted from year 0, as bills name it: "Nov 2026"."""
    year, index = divmod(month, 12)
    return f"{MONTHS[index]} {year}"
