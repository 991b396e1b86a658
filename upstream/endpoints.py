"""The endpoints of the upstream: path, signature formula, rate limits and answer size, in one table.

Most paths and formulas are our decisions, because the document does not show them. To change one, change its row here;
no other code knows it. The rates of the limits are settings.
"""

from dataclasses import dataclass
from enum import StrEnum

MIB = 1024 * 1024


class Limit(StrEnum):
    """The three rate limits (document, Limits)."""

    PRODUCTS = "products"
    ACCOUNT = "account"
    IP = "ip"


@dataclass(frozen=True)
class _Terms:
    """`limits`: from the narrowest to the widest; `max_bytes`: the most bytes of an answer."""

    path: str
    signs_ref_id: bool
    moves_money: bool = False
    limits: tuple[Limit, ...] = (Limit.ACCOUNT, Limit.IP)
    max_bytes: int = MIB


class Endpoint(StrEnum):
    """The requests that the upstream knows."""

    BALANCE = "balance"
    CATEGORIES = "categories"
    BRANDS = "brands"
    PRODUCTS = "products"
    TRANSACTION_CREATE = "transaction_create"
    TRANSACTION_STATUS = "transaction_status"
    BILL_INQUIRY = "bill_inquiry"
    BILL_PAY = "bill_pay"

    @property
    def path(self) -> str:
        """The path after the base address."""
        return _TABLE[self].path

    @property
    def signs_ref_id(self) -> bool:
        """Whether the signature covers the `ref_id` (document, /v1/bill/pay) or the credentials alone."""
        return _TABLE[self].signs_ref_id

    @property
    def moves_money(self) -> bool:
        """Whether a call may charge the account."""
        return _TABLE[self].moves_money

    @property
    def limits(self) -> tuple[Limit, ...]:
        """The rate limits that a call counts against, the narrowest first."""
        return _TABLE[self].limits

    @property
    def max_bytes(self) -> int:
        """The size (bytes) of the longest answer that is read."""
        return _TABLE[self].max_bytes


_TABLE: dict[Endpoint, _Terms] = {
    Endpoint.BALANCE: _Terms("/v1/balance", signs_ref_id=False),
    Endpoint.CATEGORIES: _Terms("/v1/categories", signs_ref_id=False),
    Endpoint.BRANDS: _Terms("/v1/brands", signs_ref_id=False),
    Endpoint.PRODUCTS: _Terms(
        "/v1/products", signs_ref_id=False, limits=(Limit.PRODUCTS, Limit.ACCOUNT, Limit.IP), max_bytes=16 * MIB
    ),
    Endpoint.TRANSACTION_CREATE: _Terms("/v1/transaction/create", signs_ref_id=True, moves_money=True),
    Endpoint.TRANSACTION_STATUS: _Terms("/v1/transaction/status", signs_ref_id=True),
    Endpoint.BILL_INQUIRY: _Terms("/v1/bill/inquiry", signs_ref_id=True),
    Endpoint.BILL_PAY: _Terms("/v1/bill/pay", signs_ref_id=True, moves_money=True),
}
