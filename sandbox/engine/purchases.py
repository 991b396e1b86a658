"""Purchases, and the one place where a transaction is accepted and charged."""

import random
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from django.db import transaction as database
from django.utils import timezone

from sandbox import callbacks, clock
from sandbox.api.envelope import ApiError, ErrorCode
from sandbox.engine.ledger import lock_account, move
from sandbox.engine.scripted import in_transaction, interfere, is_first_play, sped
from sandbox.models import Account, Inquiry, MutationKind, Product, Transaction
from sandbox.scenarios import SCENARIOS, Answer, Callback, Scenario, for_purchase

CREATE = "/v1/transaction/create"
PHONE = re.compile(r"(?:\+?62|0)8\d{7,12}")
METER = re.compile(r"\d{11,12}")
ANY_DESTINATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._|()@+/#:-]{3,49}")
PHONE_CATEGORIES = frozenset({"pulsa", "paket-data", "sms-telepon"})


@dataclass(frozen=True)
class Accepted:
    """A transaction as it stands after a request, and how its answer travels (plain on every repeat)."""

    transaction: Transaction
    answer: Answer = Answer.PLAIN


@dataclass(frozen=True, kw_only=True)
class PurchaseFields:
    """The request fields of a purchase. `max_price` in rupiah, None if not given."""

    ref_id: str
    product_code: str
    destination: str
    max_price: int | None = None


def purchase(fields: PurchaseFields) -> Accepted:
    """Create a purchase, or return the one that the identical request created before.

    Raises ApiError: DUPLICATE_REF_ID, PRODUCT_NOT_FOUND, PRODUCT_UNAVAILABLE, CUT_OFF, INVALID_DESTINATION,
    PRICE_CHANGED, INSUFFICIENT_BALANCE, and what the destination's scenario refuses with; CutFirst.
    """
    return in_transaction(lambda: _purchase(fields))


def _purchase(fields: PurchaseFields) -> Accepted:
    account = lock_account()
    existing = Transaction.objects.filter(ref_id=fields.ref_id).first()
    if existing is not None:
        same = (existing.kind, existing.product_code, existing.destination, existing.max_price) == (
            "purchase",
            fields.product_code,
            fields.destination,
            fields.max_price,
        )
        if not same:
            raise ApiError(ErrorCode.DUPLICATE_REF_ID)
        return Accepted(existing)
    if Inquiry.objects.filter(ref_id=fields.ref_id).exists():
        raise ApiError(ErrorCode.DUPLICATE_REF_ID)
    product = sellable(fields.product_code, "prepaid")
    check_destination(product, fields.destination)
    scenario = for_purchase(fields.destination)
    if scenario is not None:
        interfere(scenario, ref_id=fields.ref_id, endpoint=CREATE, fields=vars(fields))
    if scenario is not None and scenario.price_rise and is_first_play(scenario, fields.ref_id, CREATE):
        # In the product list too, so that the merchant can learn the new price and have it confirmed.
        product.price += scenario.price_rise
        product.save(update_fields=["price"])
    price = product.price
    if fields.max_price is not None and fields.max_price < price:
        raise ApiError(ErrorCode.PRICE_CHANGED, f"The price is {price} now.")
    if account.balance < price:
        raise ApiError(ErrorCode.INSUFFICIENT_BALANCE)
    return accept(
        account,
        kind="purchase",
        ref_id=fields.ref_id,
        product=product,
        destination=fields.destination,
        price=price,
        max_price=fields.max_price,
        scenario=scenario,
    )


def sellable(product_code: str, kind: Literal["prepaid", "postpaid"]) -> Product:
    """The product, if it can be sold right now. Raises ApiError: PRODUCT_NOT_FOUND, PRODUCT_UNAVAILABLE, CUT_OFF."""
    product = (
        Product.objects.select_related("brand__category")
        .filter(product_code=product_code, vanished=False, brand__category__type=kind)
        .first()
    )
    if product is None:
        raise ApiError(ErrorCode.PRODUCT_NOT_FOUND)
    if product.status != "active":
        raise ApiError(ErrorCode.PRODUCT_UNAVAILABLE)
    if product.is_cut_off(timezone.now()):
        raise ApiError(ErrorCode.CUT_OFF)
    return product


def check_destination(product: Product, destination: str) -> None:
    """Raise ApiError INVALID_DESTINATION unless the destination can be one of this product's category."""
    category = product.brand.category.code
    pattern = PHONE if category in PHONE_CATEGORIES else METER if category == "token-pln" else ANY_DESTINATION
    if not pattern.fullmatch(destination):
        raise ApiError(ErrorCode.INVALID_DESTINATION)


def accept(
    account: Account,
    *,
    kind: Literal["purchase", "bill"],
    ref_id: str,
    product: Product,
    destination: str,
    price: int,
    scenario: Scenario | None,
    max_price: int | None = None,
    period: str = "",
) -> Accepted:
    """Charge the locked account and write the pending transaction, in the caller's database transaction.

    The debit and the row are one; the unique constraints refuse a second of either for a ref_id.
    """
    now = timezone.now()
    debit = move(account, MutationKind.DEBIT, -price, ref_id=ref_id, note=product.product_name)
    after = sped(random.uniform(2.0, 4.0)) if scenario is None else _settles_after(scenario)  # noqa: S311
    accepted = Transaction.objects.create(
        trx_id=f"TRX{now:%y%m%d%H%M%S}{secrets.token_hex(4).upper()}",
        ref_id=ref_id,
        kind=kind,
        product_code=product.product_code,
        product_name=product.product_name,
        destination=destination,
        max_price=max_price,
        period=period,
        price=price,
        message="The transaction is being processed.",
        balance=debit.balance_after,
        scenario=scenario.number if scenario else None,
        outcome=scenario.outcome if scenario else "success",
        settle_at=None if after is None else now + after,
        created_at=now,
    )
    for planned in planned_callbacks(accepted):
        if planned.early:
            callbacks.queue(accepted, planned.content, due_at=now + sped(planned.after))
    database.on_commit(clock.wake)
    return Accepted(accepted, scenario.answer if scenario else Answer.PLAIN)


def planned_callbacks(accepted: Transaction) -> tuple[Callback, ...]:
    """The callbacks that the transaction's scenario sends; ordinarily one true one when it settles."""
    scenario = SCENARIOS.get(accepted.scenario or 0)
    return scenario.callbacks if scenario else (Callback(),)


def _settles_after(scenario: Scenario) -> timedelta | None:
    return None if scenario.settles_after is None else sped(scenario.settles_after)
