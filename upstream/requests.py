"""The requests to the upstream, one function each. `Client.send()` sends a request; other rooms use the gateway."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from upstream.endpoints import Endpoint
from upstream.messages import Balance, BillInquiry, Brands, Categories, Message, Products, Transaction

T = TypeVar("T", bound=Message)


@dataclass(frozen=True)
class Request(Generic[T]):
    """One request: its endpoint, its fields besides the credentials, and the message that a good answer holds."""

    endpoint: Endpoint
    message: type[T]
    ref_id: str | None = None
    fields: Mapping[str, str | int | None] = field(default_factory=dict)


def balance() -> Request[Balance]:
    """Read the account's balance, in whole rupiah."""
    return Request(Endpoint.BALANCE, Balance)


def categories() -> Request[Categories]:
    """Read all categories."""
    return Request(Endpoint.CATEGORIES, Categories)


def brands() -> Request[Brands]:
    """Read the brands of all categories."""
    return Request(Endpoint.BRANDS, Brands)


def products() -> Request[Products]:
    """Read all products. At most a few calls a minute: cache them."""
    return Request(Endpoint.PRODUCTS, Products)


def create_transaction(
    *, ref_id: str, product_code: str, destination: str, max_price: int | None
) -> Request[Transaction]:
    """Buy. `max_price` (whole rupiah) makes the upstream refuse a higher price with PRICE_CHANGED.

    After `OutcomeUnknown` only `transaction_status` says what happened; never send this again for that order.
    """
    fields = {"product_code": product_code, "destination": destination, "max_price": max_price}
    return Request(Endpoint.TRANSACTION_CREATE, Transaction, ref_id, fields)


def transaction_status(*, ref_id: str) -> Request[Transaction]:
    """Poll the status of a purchase or a bill payment.

    A `Rejected` is only about this request, also with `balance_untouched`. It never means that the purchase
    failed; TRANSACTION_NOT_FOUND may mean that the purchase is still on its way.
    """
    return Request(Endpoint.TRANSACTION_STATUS, Transaction, ref_id)


def bill_inquiry(*, ref_id: str, product_code: str, destination: str) -> Request[BillInquiry]:
    """Inquire what a customer owes; send the same arguments again to follow a pending inquiry."""
    fields = {"product_code": product_code, "destination": destination}
    return Request(Endpoint.BILL_INQUIRY, BillInquiry, ref_id, fields)


def bill_pay(*, ref_id: str, amount: int | None) -> Request[Transaction]:
    """Pay the bill of the inquiry with this `ref_id`. `amount`: the inquiry's total in whole rupiah.

    The only money call that may be repeated, identically, after `OutcomeUnknown` (document, /v1/bill/pay 5).
    """
    return Request(Endpoint.BILL_PAY, Transaction, ref_id, {"amount": amount})


def sign(*, secret_id: str, secret_key: str, ref_id: str | None = None) -> str:
    """Return the lower-case hex MD5 of `secret_id:secret_key:ref_id`, or of `secret_id:secret_key` without a `ref_id`.

    The upstream requires MD5 (document, Authentication 3). The result is as good as a password for this `ref_id`:
    never log or store it.
    """
    parts = [secret_id, secret_key] if ref_id is None else [secret_id, secret_key, ref_id]
    return hashlib.md5(":".join(parts).encode(), usedforsecurity=False).hexdigest()
