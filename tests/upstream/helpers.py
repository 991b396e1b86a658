"""Messages of the upstream, and one purchase, for the tests of this room."""

from typing import Any, TypeVar

import pytest

from upstream import requests
from upstream.budget import CallClass, Permit
from upstream.client import Client, Reply
from upstream.errors import OutcomeUnknown
from upstream.messages import Message, Transaction
from upstream.requests import Request

T = TypeVar("T", bound=Message)

TRANSACTION: dict[str, Any] = {
    "trx_id": "T1",
    "ref_id": "R1",
    "product_code": "TSEL10",
    "product_name": "Telkomsel 10.000",
    "destination": "081234567890",
    "price": 10_250,
    "status": "pending",
    "sn": None,
    "message": "sedang diproses",
    "balance": 1_489_750,
}
INQUIRY: dict[str, Any] = {
    "ref_id": "R1",
    "product_code": "PLNPOST",
    "product_name": "PLN Pascabayar",
    "destination": "530000000001",
    "customer_name": "BUDI",
    "status": "valid",
    "amount": 150_000,
    "admin_fee": 2_500,
    "penalty": 0,
    "total": 152_500,
    "period": "2026-08",
    "details": [{"period": "2026-08", "amount": 150_000, "penalty": 0}],
    "expires_at": "2026-08-22T10:05:00+07:00",
}
PRODUCT: dict[str, Any] = {
    "product_code": "TSEL10",
    "product_name": "Telkomsel 10.000",
    "category": "PULSA",
    "brand": "TELKOMSEL",
    "type": "prepaid",
    "price": 10_250,
    "admin_fee": 0,
    "status": "active",
    "description": "",
    "cut_off_start": "23:30",
    "cut_off_end": None,
}
BUY: dict[str, Any] = {"ref_id": "R1", "product_code": "TSEL10", "destination": "081234567890"}


def success(data: object) -> dict[str, Any]:
    """The envelope of a good answer."""
    return {"code": 200, "status": "success", "message": "ok", "data": data}


def bought(**changes: object) -> dict[str, Any]:
    """The answer to a purchase, with some fields of its transaction changed."""
    return success({**TRANSACTION, **changes})


def error(status: int, error_code: object) -> dict[str, Any]:
    """The envelope of a refusal."""
    return {"code": status, "status": "error", "error_code": error_code, "message": "no"}


def send(client: Client, request: Request[T]) -> Reply[T]:
    """Make one request, with a permit if it moves money."""
    if not request.endpoint.moves_money:
        return client.send(request)
    return client.send(request, client.reserve(request.endpoint, call_class=CallClass.INTERACTIVE))


def buy(client: Client, *, permit: Permit | None = None, **fields: Any) -> Reply[Transaction]:
    """Make the one purchase of these tests, with a permit of its own unless one is given."""
    request = requests.create_transaction(**{**BUY, "max_price": None, **fields})
    return client.send(request, permit) if permit else send(client, request)


def unknown_reason(client: Client) -> str:
    """Buy without a trustworthy answer; returns the reason."""
    with pytest.raises(OutcomeUnknown) as caught:
        buy(client)
    return caught.value.reason
