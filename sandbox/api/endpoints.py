"""The endpoints of the wire: a table of path → function. All are POST, with JSON in and out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from sandbox import messages
from sandbox.api import fields
from sandbox.errors import ApiError, ErrorCode
from sandbox.models import Account, Brand, Category, Product, Transaction
from sandbox.scenarios import Answer
from sandbox.services import bills, purchases

Body = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """The answer of an endpoint: `data` and `message` of the envelope, and the way in which it is sent."""

    data: dict[str, Any]
    message: str = "OK"
    answer: Answer = Answer.PLAIN


@dataclass(frozen=True)
class Endpoint:
    """One path of the wire."""

    serve: Callable[[Account, Body], Reply]
    with_ref_id: bool = False
    limit: str | None = None


def _balance(account: Account, _body: Body) -> Reply:
    return Reply({"balance": account.balance})


def _categories(_account: Account, _body: Body) -> Reply:
    return Reply({"categories": list(Category.objects.values("code", "name", "type"))})


def _brands(_account: Account, body: Body) -> Reply:
    brands = Brand.objects.select_related("category")
    category = fields.optional_text(body, "category")
    if category is not None:
        brands = brands.filter(category__code=category)
    return Reply({"brands": [{"code": row.code, "name": row.name, "category": row.category.code} for row in brands]})


def _products(_account: Account, body: Body) -> Reply:
    products: QuerySet[Product] = Product.objects.filter(delisted=False).select_related("brand__category")
    for name, lookup in (("category", "brand__category__code"), ("brand", "brand__code")):
        wanted = fields.optional_text(body, name)
        if wanted is not None:
            products = products.filter(**{lookup: wanted})
    kind = fields.optional_text(body, "type")
    if kind not in (None, "prepaid", "postpaid"):
        raise fields.invalid("type must be prepaid or postpaid.")
    if kind is not None:
        products = products.filter(brand__category__type=kind)
    return Reply({"products": [messages.product_data(product) for product in products]})


def _transaction(transaction: Transaction, answer: Answer = Answer.PLAIN) -> Reply:
    return Reply(messages.transaction_data(transaction), transaction.message, answer)


def _create(_account: Account, body: Body) -> Reply:
    return _transaction(
        *purchases.purchase(
            ref_id=fields.ref_id(body),
            product_code=fields.text(body, "product_code"),
            destination=fields.text(body, "destination"),
            max_price=fields.optional_rupiah(body, "max_price"),
        )
    )


def _status(_account: Account, body: Body) -> Reply:
    transaction = Transaction.objects.filter(ref_id=fields.ref_id(body)).first()
    if transaction is None:
        raise ApiError(ErrorCode.TRANSACTION_NOT_FOUND)
    return _transaction(transaction)


def _inquiry(_account: Account, body: Body) -> Reply:
    inquiry, answer = bills.inquire(
        ref_id=fields.ref_id(body),
        product_code=fields.text(body, "product_code"),
        destination=fields.text(body, "destination"),
    )
    return Reply(messages.inquiry_data(inquiry), answer=answer)


def _pay(_account: Account, body: Body) -> Reply:
    return _transaction(*bills.pay(ref_id=fields.ref_id(body), amount=fields.optional_rupiah(body, "amount")))


ENDPOINTS: dict[str, Endpoint] = {
    "/v1/balance": Endpoint(_balance),
    "/v1/categories": Endpoint(_categories),
    "/v1/brands": Endpoint(_brands),
    "/v1/products": Endpoint(_products, limit="products"),
    purchases.CREATE: Endpoint(_create, with_ref_id=True),
    "/v1/transaction/status": Endpoint(_status, with_ref_id=True),
    bills.INQUIRY: Endpoint(_inquiry, with_ref_id=True),
    bills.PAY: Endpoint(_pay, with_ref_id=True),
}
