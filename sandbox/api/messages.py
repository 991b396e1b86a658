"""The objects that the wire carries as `data`. Money in whole rupiah, moments in RFC 3339 with offset."""

from datetime import datetime, time
from typing import Any

from django.utils import timezone

from sandbox.models import Brand, Category, Inquiry, Product, Transaction


def moment(at: datetime | None) -> str | None:
    """An aware moment as text, in Asia/Jakarta, e.g. 2026-08-22T10:00:12+07:00."""
    return timezone.localtime(at).isoformat(timespec="seconds") if at else None


def _clock(at: time | None) -> str | None:
    return f"{at:%H:%M}" if at else None


def transaction_data(transaction: Transaction) -> dict[str, Any]:
    """Transaction (document, Transaction)."""
    return {
        "trx_id": transaction.trx_id,
        "ref_id": transaction.ref_id,
        "product_code": transaction.product_code,
        "product_name": transaction.product_name,
        "destination": transaction.destination,
        "price": transaction.price,
        "status": transaction.status,
        "sn": transaction.sn,
        "message": transaction.message,
        "balance": transaction.balance,
    }


def inquiry_data(inquiry: Inquiry) -> dict[str, Any]:
    """Bill inquiry result (document, Bill inquiry result); without money and expiry while it is pending."""
    known = inquiry.status == "valid"
    return {
        "ref_id": inquiry.ref_id,
        "product_code": inquiry.product.product_code,
        "product_name": inquiry.product.product_name,
        "destination": inquiry.destination,
        "customer_name": inquiry.customer_name if known else None,
        "status": inquiry.status,
        "amount": inquiry.amount if known else None,
        "admin_fee": inquiry.admin_fee if known else None,
        "penalty": inquiry.penalty if known else None,
        "total": inquiry.total if known else None,
        "period": inquiry.period if known else None,
        "details": inquiry.details if known else [],
        "expires_at": moment(inquiry.expires_at),
    }


def category_data(category: Category) -> dict[str, Any]:
    """A category."""
    return {"code": category.code, "name": category.name, "type": category.type}


def brand_data(brand: Brand) -> dict[str, Any]:
    """A brand, with the code of its category."""
    return {"code": brand.code, "name": brand.name, "category": brand.category.code}


def product_data(product: Product) -> dict[str, Any]:
    """A product, with the codes of its category and brand."""
    return {
        "product_code": product.product_code,
        "product_name": product.product_name,
        "category": product.brand.category.code,
        "brand": product.brand.code,
        "type": product.brand.category.type,
        "price": product.price,
        "admin_fee": product.admin_fee,
        "status": product.status,
        "description": product.description,
        "cut_off_start": _clock(product.cut_off_start),
        "cut_off_end": _clock(product.cut_off_end),
    }
