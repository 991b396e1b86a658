"""The endpoints of the wire: a table of path → what it does. All are POST, JSON in and out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from sandbox.api import fields, messages
from sandbox.api.envelope import ApiError, ErrorCode
from sandbox.engine import bills, purchases
from sandbox.models import Account, Brand, Category, Product, Transaction
from sandbox.scenarios import Answer

Body = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """What an endpoint answers: the `data`, how the answer travels, and the scenario that was played."""

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
    return Reply({"categories": [messages.category_data(category) for category in Category.objects.all()]})


def _brands(_account: Account, body: Body) -> Reply:
    brands = Brand.objects.select_related("category")
    category = fields.optional_text(body, "category")
    if category is not None:
        brands = brands.filter(category__code=category)
    return Reply({"brands": [messages.brand_data(brand) for brand in brands]})


def _products(_account: Account, body: Body) -> Reply:
    products: QuerySet[Product] = Product.objects.filter(vanished=False).select_related("brand__category")
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


def _accepted(result: purchases.Accepted) -> Reply:
    return Reply(messages.transaction_data(result.transaction), result.transaction.message, result.answer)


def _create(_account: Account, body: Body) -> Reply:
    return _accepted(
        purchases.purchase(
            purchases.PurchaseFields(
                ref_id=fields.ref_id(body),
                product_code=fields.text(body, "product_code"),
                destination=fields.text(body, "destination"),
                max_price=fields.optional_rupiah(body, "max_price"),
            )
        )
    )


def _status(_account: Account, body: Body) -> Reply:
    transaction = Transaction.objects.filter(ref_id=fields.ref_id(body)).first()
    if transaction is None:
        raise ApiError(ErrorCode.TRANSACTION_NOT_FOUND)
    return Reply(messages.transaction_data(transaction), transaction.message)


def _inquiry(_account: Account, body: Body) -> Reply:
    checked = bills.inquire(
        bills.InquiryFields(
            ref_id=fields.ref_id(body),
            product_code=fields.text(body, "product_code"),
            destination=fields.text(body, "destination"),
        )
    )
    return Reply(messages.inquiry_data(checked.inquiry), answer=checked.answer)


def _pay(_account: Account, body: Body) -> Reply:
    return _accepted(
        bills.pay(bills.PayFields(ref_id=fields.ref_id(body), amount=fields.optional_rupiah(body, "amount")))
    )


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
