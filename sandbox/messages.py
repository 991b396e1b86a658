"""The JSON of the wire: its two envelopes and the objects in `data`. Money in whole rupiah, times in RFC 3339."""

from datetime import datetime, time
from typing import Any

from django.utils import timezone

from sandbox.errors import ApiError
from sandbox.models import Inquiry, Product, Transaction

TRANSACTION = (
    "trx_id", "ref_id", "product_code", "product_name", "destination", "price", "status", "sn", "message", "balance",
)  # fmt: skip
# null while the inquiry is pending; `details` is empty then
RESULT = ("customer_name", "amount", "admin_fee", "penalty", "total", "period", "details")


def success(data: dict[str, Any], message: str = "OK") -> dict[str, Any]:
    """The success envelope around `data`."""
    return {"code": 200, "status": "success", "message": message, "data": data}


def error(refusal: ApiError) -> dict[str, Any]:
    """The error envelope of a refusal."""
    return {
        "code": refusal.http_status,
        "status": "error",
        "error_code": refusal.code.name,
        "message": refusal.message,
    }


def moment(at: datetime) -> str:
    """An aware time as text, in Asia/Jakarta, e.g. 2026-08-22T10:00:12+07:00."""
    return timezone.localtime(at).isoformat(timespec="seconds")


def transaction_data(transaction: Transaction) -> dict[str, Any]:
    """Transaction (document, Transaction)."""
    return {name: getattr(transaction, name) for name in TRANSACTION}


def inquiry_data(inquiry: Inquiry) -> dict[str, Any]:
    """Bill inquiry result (document, Bill inquiry result); without money and expiry while it is pending."""
    if inquiry.status == "valid":
        result = {name: getattr(inquiry, name) for name in RESULT}
    else:
        result = {**dict.fromkeys(RESULT), "details": []}
    return {
        "ref_id": inquiry.ref_id,
        "product_code": inquiry.product.product_code,
        "product_name": inquiry.product.product_name,
        "destination": inquiry.destination,
        "status": inquiry.state if inquiry.status == "valid" else inquiry.status,
        **result,
        "expires_at": moment(inquiry.expires_at) if inquiry.expires_at else None,
    }


def product_data(product: Product) -> dict[str, Any]:
    """A product, with the codes of its category and brand."""
    return {
        "product_code": product.product_code,
        "product_name": product.product_name,
        "category": product.brand.category.code,
        "brand": product.brand.code,
        "type": product.brand.category.type,
        "price": product.listed_price,
        "admin_fee": product.admin_fee,
        "status": product.status,
        "description": product.description,
        "cut_off_start": _clock(product.cut_off_start),
        "cut_off_end": _clock(product.cut_off_end),
    }


def _clock(at: time | None) -> str | None:
    return f"{at:%H:%M}" if at else None
