"""Purchases, and the one place where a transaction is accepted and charged."""

import random
import secrets

from django.db import transaction as database
from django.utils import timezone

from sandbox.errors import ApiError, ErrorCode
from sandbox.models import Account, Inquiry, MutationKind, Product, Transaction
from sandbox.scenarios import Answer, Kind, Scenario, scenario_for
from sandbox.services import callbacks, scheduler
from sandbox.services.account import lock_account, move
from sandbox.services.catalogue import check_destination, sellable
from sandbox.services.playing import in_transaction, play, sped

CREATE = "/v1/transaction/create"


@in_transaction
def purchase(
    *, ref_id: str, product_code: str, destination: str, max_price: int | None = None
) -> tuple[Transaction, Answer]:
    """Create a purchase, or return the one that the identical request created; also returns how to send the answer.

    `max_price` in rupiah. Raises the errors of the destination's scenario, and ApiError: DUPLICATE_REF_ID,
    PRODUCT_NOT_FOUND, PRODUCT_UNAVAILABLE, CUT_OFF, INVALID_DESTINATION, PRICE_CHANGED, INSUFFICIENT_BALANCE.
    """
    account = lock_account()
    fields = {"ref_id": ref_id, "product_code": product_code, "destination": destination, "max_price": max_price}
    existing = Transaction.objects.filter(ref_id=ref_id).first()
    if existing is not None:
        if existing.kind != "purchase" or any(getattr(existing, name) != value for name, value in fields.items()):
            raise ApiError(ErrorCode.DUPLICATE_REF_ID)
        return existing, Answer.PLAIN
    if Inquiry.objects.filter(ref_id=ref_id).exists():
        raise ApiError(ErrorCode.DUPLICATE_REF_ID)
    product = sellable(product_code, "prepaid")
    check_destination(product, destination)
    scenario = scenario_for("purchase", destination)
    price = product.price
    if scenario is not None:
        noted, is_first = play(scenario, CREATE, fields)
        if scenario.rise and is_first:
            noted.price = product.listed_price + scenario.rise
            noted.save(update_fields=["price"])
        price = noted.price or price
    if max_price is not None and max_price < price:
        if price > product.listed_price:
            # list the new price, so that a person can confirm it; other orders still pay the usual price
            product.risen_price = price
            product.save(update_fields=["risen_price"])
        raise ApiError(ErrorCode.PRICE_CHANGED, f"The price is {price} now.")
    if account.balance < price:
        raise ApiError(ErrorCode.INSUFFICIENT_BALANCE)
    if product.risen_price == price:
        product.risen_price = None
        product.save(update_fields=["risen_price"])
    return accept(
        account,
        kind="purchase",
        ref_id=ref_id,
        product=product,
        destination=destination,
        price=price,
        max_price=max_price,
        scenario=scenario,
    )


def accept(
    account: Account,
    *,
    kind: Kind,
    ref_id: str,
    product: Product,
    destination: str,
    price: int,
    scenario: Scenario | None,
    max_price: int | None = None,
) -> tuple[Transaction, Answer]:
    """Charge the locked account and write the pending transaction, in the caller's database transaction.

    Debit and row are written together; unique constraints refuse a second debit or row of a ref_id.
    """
    now = timezone.now()
    debit = move(account, MutationKind.DEBIT, -price, ref_id=ref_id, note=product.product_name)
    seconds = scenario.settles_after if scenario else random.uniform(2.0, 4.0)  # noqa: S311
    accepted = Transaction.objects.create(
        trx_id=f"TRX{now:%y%m%d%H%M%S}{secrets.token_hex(4).upper()}",
        ref_id=ref_id,
        kind=kind,
        product_code=product.product_code,
        product_name=product.product_name,
        destination=destination,
        max_price=max_price,
        price=price,
        message="The transaction is being processed.",
        balance=debit.balance_after,
        scenario=scenario.number if scenario else None,
        settle_at=None if seconds is None else now + sped(seconds),
        created_at=now,
    )
    callbacks.queue_planned(accepted, early=True)
    database.on_commit(scheduler.wake)
    return accepted, scenario.answer if scenario else Answer.PLAIN
