"""Bill checks and their payment (document, /v1/bill/pay and Bill inquiry)."""

import itertools
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction as database
from django.utils import timezone

from sandbox.api.envelope import ApiError, ErrorCode
from sandbox.engine.ledger import lock_account
from sandbox.engine.purchases import Accepted, accept, check_destination, sellable
from sandbox.engine.scripted import in_transaction, interfere, sped
from sandbox.models import Inquiry, Product, ScenarioPlay, Transaction
from sandbox.scenarios import Answer, Scenario, for_bill

INQUIRY = "/v1/bill/inquiry"
PAY = "/v1/bill/pay"
# how long a valid inquiry can be paid
LIFE = 300.0
MONTHS = ("Jan", "Feb", "Mar", "Apr", "Mei", "Jun", "Jul", "Agu", "Sep", "Okt", "Nov", "Des")
CUSTOMERS = (
    "ADE SETIAWAN", "AGUS PRASETYO", "AYU LESTARI", "BUDI SANTOSO", "DEWI ANGGRAINI", "DIAN PERMATA SARI",
    "EKO WAHYUDI", "FITRI HANDAYANI", "HENDRA GUNAWAN", "I MADE SUARDANA", "INDAH KURNIAWATI", "JOKO SUSILO",
    "KARTINI SIREGAR", "LINA MARLINA", "MUHAMMAD RIZKI", "NURUL HIDAYAH", "PUTRI RAHMAWATI", "RATNA WULANDARI",
    "RUDI HARTONO", "SITI AMINAH", "TONO SUPRAPTO", "UMAR FARUQ", "VINA OKTAVIANI", "WAHYU NUGROHO", "YUSUF HABIBIE",
    "ZAINAL ARIFIN",
)  # fmt: skip


@dataclass(frozen=True)
class Checked:
    """A bill check as it stands after a request, and how its answer travels."""

    inquiry: Inquiry
    answer: Answer = Answer.PLAIN


@dataclass(frozen=True, kw_only=True)
class InquiryFields:
    """The request fields of a bill check."""

    ref_id: str
    product_code: str
    destination: str


@dataclass(frozen=True, kw_only=True)
class PayFields:
    """The request fields of a payment. `amount` in rupiah, None if not given."""

    ref_id: str
    amount: int | None = None


def inquire(fields: InquiryFields) -> Checked:
    """Check a bill, or return the stored result of the identical check (document, Bill inquiry result).

    Raises ApiError: DUPLICATE_REF_ID, PRODUCT_NOT_FOUND, PRODUCT_UNAVAILABLE, CUT_OFF, INVALID_DESTINATION,
    BILL_NOT_AVAILABLE, BILL_ALREADY_PAID.
    """
    with database.atomic():
        lock_account()
        inquiry = Inquiry.objects.select_related("product").filter(ref_id=fields.ref_id).first()
        if inquiry is not None:
            if (inquiry.product.product_code, inquiry.destination) != (fields.product_code, fields.destination):
                raise ApiError(ErrorCode.DUPLICATE_REF_ID)
            become_valid(inquiry)
            return Checked(inquiry)
        if Transaction.objects.filter(ref_id=fields.ref_id).exists():
            raise ApiError(ErrorCode.DUPLICATE_REF_ID)
        product = sellable(fields.product_code, "postpaid")
        check_destination(product, fields.destination)
        scenario = for_bill(fields.destination)
        if scenario is not None and scenario.inquiry_refusal is not None:
            raise ApiError(scenario.inquiry_refusal)
        # A magic customer who has paid has the next month's bill, so that a scenario can be tried again.
        paid = _paid_months(product.product_code, fields.destination, ["success"])
        bill = _bill(product, fields.destination, timezone.now(), paid=paid, goes_on=scenario is not None)
        if bill is None:
            raise ApiError(ErrorCode.BILL_ALREADY_PAID)
        inquiry = _store(fields.ref_id, product, fields.destination, bill, scenario)
        become_valid(inquiry)
        return Checked(inquiry, scenario.inquiry_answer if scenario else Answer.PLAIN)


def _store(ref_id: str, product: Product, destination: str, bill: dict[str, Any], scenario: Scenario | None) -> Inquiry:
    now = timezone.now()
    pending = scenario.inquiry_pending if scenario else 0.0
    life = scenario.inquiry_life if scenario else None
    return Inquiry.objects.create(
        ref_id=ref_id,
        product=product,
        destination=destination,
        scenario=scenario.number if scenario else None,
        status="pending",
        # only a scenario's life is a delay to be sped up; five minutes stay five minutes
        life_seconds=LIFE if life is None else sped(life).total_seconds(),
        created_at=now,
        valid_at=None if pending is None else now + sped(pending),
        **bill,
    )


def become_valid(inquiry: Inquiry, *, at_once: bool = False) -> None:
    """Bring a pending inquiry to valid if its time has come, or `at_once`. Under the account's lock."""
    if inquiry.status != "pending":
        return
    now = timezone.now()
    if at_once:
        inquiry.valid_at = now
    if inquiry.valid_at is None or inquiry.valid_at > now:
        return
    inquiry.status = "valid"
    # Rounded up: the wire shows whole seconds, and what it shows must still be payable.
    expires_at = inquiry.valid_at + timedelta(seconds=inquiry.life_seconds)
    inquiry.expires_at = (
        expires_at.replace(microsecond=0) + timedelta(seconds=1) if expires_at.microsecond else expires_at
    )
    inquiry.save(update_fields=["status", "valid_at", "expires_at"])


@database.atomic
def complete_inquiry(ref_id: str) -> bool:
    """Make a pending inquiry valid now, as a person tells it to; False if there is none pending."""
    lock_account()
    inquiry = Inquiry.objects.filter(ref_id=ref_id, status="pending").first()
    if inquiry is None:
        return False
    become_valid(inquiry, at_once=True)
    return True


def pay(fields: PayFields) -> Accepted:
    """Pay a checked bill once; a repeat returns the payment (document, /v1/bill/pay 1–8).

    Raises ApiError: BILL_NOT_FOUND, INQUIRY_PENDING, INQUIRY_EXPIRED, AMOUNT_MISMATCH, BILL_ALREADY_PAID,
    PRODUCT_UNAVAILABLE, CUT_OFF, INSUFFICIENT_BALANCE, and what the destination's scenario refuses with; CutFirst.
    """
    return in_transaction(lambda: _pay(fields))


def _pay(fields: PayFields) -> Accepted:
    account = lock_account()
    inquiry = Inquiry.objects.select_related("product").filter(ref_id=fields.ref_id).first()
    if inquiry is None:
        raise ApiError(ErrorCode.BILL_NOT_FOUND)
    become_valid(inquiry)
    existing = Transaction.objects.filter(ref_id=fields.ref_id).first()
    if existing is not None:
        if fields.amount is not None and fields.amount != existing.price:
            raise ApiError(ErrorCode.AMOUNT_MISMATCH)
        return Accepted(existing)
    if inquiry.status == "pending":
        raise ApiError(ErrorCode.INQUIRY_PENDING)
    scenario = for_bill(inquiry.destination)
    if scenario is not None:
        interfere(scenario, ref_id=fields.ref_id, endpoint=PAY, fields=vars(fields))
        _raise_once(inquiry, scenario)
    _check_payable(inquiry, fields.amount, magic=scenario is not None)
    if account.balance < inquiry.total:
        raise ApiError(ErrorCode.INSUFFICIENT_BALANCE)
    return accept(
        account,
        kind="bill",
        ref_id=inquiry.ref_id,
        product=inquiry.product,
        destination=inquiry.destination,
        price=inquiry.total,
        period=inquiry.period,
        scenario=scenario,
    )


def _check_payable(inquiry: Inquiry, amount: int | None, *, magic: bool) -> None:
    if inquiry.expires_at is None or inquiry.expires_at <= timezone.now():
        raise ApiError(ErrorCode.INQUIRY_EXPIRED)
    if amount is not None and amount != inquiry.total:
        raise ApiError(ErrorCode.AMOUNT_MISMATCH)
    product = sellable(inquiry.product.product_code, "postpaid")
    # a magic customer's open payment is in nobody's way, so that a scenario can be tried again
    paid = _paid_months(product.product_code, inquiry.destination, ["success"] if magic else ["pending", "success"])
    if any(line["period"] in paid for line in inquiry.details):
        raise ApiError(ErrorCode.BILL_ALREADY_PAID)


def _raise_once(inquiry: Inquiry, scenario: Scenario) -> None:
    """Let the total rise before the first payment, if the scenario wants it to."""
    if not scenario.total_rise:
        return
    _, first = ScenarioPlay.objects.get_or_create(
        ref_id=inquiry.ref_id, endpoint=PAY, defaults={"scenario": scenario.number}
    )
    if first:
        inquiry.penalty += scenario.total_rise
        inquiry.total += scenario.total_rise
        inquiry.details[-1]["penalty"] += scenario.total_rise
        inquiry.save(update_fields=["penalty", "total", "details"])


def _paid_months(product_code: str, destination: str, statuses: list[str]) -> set[str]:
    """The months of this customer's bills ("Nov 2026") that payments in these statuses cover."""
    payments = Transaction.objects.filter(
        kind="bill", product_code=product_code, destination=destination, status__in=statuses
    )
    details = Inquiry.objects.filter(ref_id__in=payments.values("ref_id")).values_list("details", flat=True)
    return {line["period"] for lines in details for line in lines}


def _bill(product: Product, destination: str, at: datetime, *, paid: set[str], goes_on: bool) -> dict[str, Any] | None:
    """What the customer owes: name, the months after the last one `paid`, amounts in rupiah; the same all month.

    With all of them paid None, or, when it `goes_on`, the bill of the next month.
    """
    today = timezone.localtime(at).date()
    dice = random.Random(f"{product.product_code}:{destination}:{today:%Y-%m}")  # noqa: S311
    count = dice.choices((1, 2, 3), weights=(80, 15, 5))[0]
    monthly = dice.randrange(35_000, 650_000, 50)
    now = today.year * 12 + today.month - 1
    amounts = {month: monthly + 50 * dice.randrange(-200, 200) for month in range(now - count + 1, now + 1)}
    customer_name = dice.choice(CUSTOMERS)
    owed = list(itertools.takewhile(lambda month: _label(month) not in paid, reversed(amounts)))[::-1]
    if not owed:
        if not goes_on:
            return None
        owed = [next(month for month in itertools.count(now + 1) if _label(month) not in paid)]
        amounts[owed[0]] = monthly + 50 * dice.randrange(-200, 200)
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


def _label(month: int) -> str:
    """A month, counted from year 0, as bills name it: "Nov 2026"."""
    year, index = divmod(month, 12)
    return f"{MONTHS[index]} {year}"
