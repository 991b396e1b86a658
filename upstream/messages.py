"""The shapes of the upstream's messages, one model each (document, Resources; the rest is our decision).

Strict where money depends on it: whole numbers only (`50000.0`, `"50000"` and `true` are refused), no price or total
below zero, a known status, times with an offset. A balance may be below zero: the document does not exclude it, and an
account in debt must not make every answer invalid. Liberal elsewhere: unknown fields are ignored, and a text for people
may be missing, and is shortened, not refused; a list is taken without its odd rows. Only this module knows field names
and rules.

All amounts are whole rupiah.
"""

from datetime import UTC, datetime, time
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

REF_ID_PATTERN = r"^[A-Za-z0-9._-]{1,64}$"
MAX_AMOUNT = 10**15
MAX_TEXT = 1000
MAX_CODE = 100


def _text(value: object) -> object:
    if value is None:
        return ""
    return value[:MAX_TEXT] if isinstance(value, str) else value


def _words(value: object) -> object:
    return _text(value) if isinstance(value, str) else ""


def _sn(value: object) -> object:
    """ "" → None; a whole number → its digits. Anything else is returned unchanged."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return str(value)
    return None if value == "" else value


# A time that means "never", such as 9999-12-31T23:59:59Z, becomes a time that every zone and the database can show.
_FIRST, _LAST = datetime(2, 1, 1, tzinfo=UTC), datetime(9998, 12, 31, tzinfo=UTC)


def _moment(value: object) -> object:
    """RFC 3339 text → aware datetime; anything else is returned unchanged, and then refused."""
    if not isinstance(value, str) or len(value) < len("2026-01-01T00:00:00Z") or value[10] not in "Tt ":
        return value
    try:
        moment = datetime.fromisoformat(value.upper())
    except ValueError:
        return value
    return min(max(moment, _FIRST), _LAST) if moment.tzinfo is not None else value


def _clock(value: object) -> object:
    """ "HH:MM" → time; anything else is returned unchanged, and then refused."""
    if not isinstance(value, str) or len(value) != len("00:00"):
        return value
    try:
        return time.fromisoformat(value)
    except ValueError:
        return value


def _empty_is_none(value: object) -> object:
    return None if value == "" else value


Rupiah = Annotated[int, Field(strict=True, ge=0, le=MAX_AMOUNT)]
SignedRupiah = Annotated[int, Field(strict=True, ge=-MAX_AMOUNT, le=MAX_AMOUNT)]
RefId = Annotated[str, Field(pattern=REF_ID_PATTERN)]
Code = Annotated[str, Field(min_length=1, max_length=MAX_CODE)]
Text = Annotated[str, BeforeValidator(_text)]
# A text on which nothing rests: what is no text is left out.
Words = Annotated[str, BeforeValidator(_words)]
Moment = Annotated[datetime, BeforeValidator(_moment)]
Clock = Annotated[time, BeforeValidator(_clock)]


class TransactionStatus(StrEnum):
    """Document, Transaction status. `success` and `failed` are final."""

    PENDING = "pending"
    SUCCESS = "success"
    FAILED = "failed"


class InquiryStatus(StrEnum):
    """Document, Bill inquiry. A valid one is expired after its `expires_at`."""

    PENDING = "pending"
    VALID = "valid"
    EXPIRED = "expired"


class Message(BaseModel):
    """The base of all messages: strictly typed and immutable."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore", hide_input_in_errors=True)


class Balance(Message):
    """The account's balance."""

    balance: SignedRupiah


class OddRow(Message):
    """A row of a list that cannot be used, and is left out.

    `code`, `name`: as listed, "" if they cannot be read. `field`: the first field at fault, "" if it is the whole row.
    """

    code: str
    name: str
    field: str


class Listing(Message):
    """`data` of an endpoint that lists rows. One odd row costs no other: `odd` has the rows that cannot be read.

    If they are more than half of all rows, the whole list is refused.
    """

    odd: list[OddRow] = []

    rows: ClassVar[str]
    row: ClassVar[type[Message]]
    prefix: ClassVar[str] = ""

    @model_validator(mode="before")
    @classmethod
    def _leave_out(cls, value: Any) -> Any:
        listed = value.get(cls.rows) if isinstance(value, dict) else None
        if not isinstance(listed, list):
            return value
        good: list[Message] = []
        odd: list[OddRow] = []
        for item in listed:
            try:
                good.append(cls.row.model_validate(item))
            except ValidationError as error:
                odd.append(cls._odd(item, error))
        return {cls.rows: listed if len(odd) > len(good) else good, "odd": odd}

    @classmethod
    def _odd(cls, item: Any, error: ValidationError) -> OddRow:
        said = item if isinstance(item, dict) else {}
        code, name = said.get(f"{cls.prefix}code"), said.get(f"{cls.prefix}name")
        where = error.errors(include_input=False, include_url=False)[0]["loc"]
        return OddRow(
            code=code if isinstance(code, str) and len(code) <= MAX_CODE else "",
            name=name[:MAX_CODE] if isinstance(name, str) else "",
            field=str(where[0]) if where else "",
        )


class Category(Message):
    """One category of the catalogue."""

    code: Code
    name: Text
    type: Literal["prepaid", "postpaid"]


class Categories(Listing):
    """`data` of /v1/categories."""

    categories: list[Category]

    rows = "categories"
    row = Category


class Brand(Message):
    """One brand, in one category."""

    code: Code
    name: Text
    category: Code


class Brands(Listing):
    """`data` of /v1/brands."""

    brands: list[Brand]

    rows = "brands"
    row = Brand


class Product(Message):
    """One product. `price` is what a prepaid purchase deducts; a bill's price is known only by inquiry.

    Cut-off times are wall-clock times of the upstream's service, both set or both None.
    """

    product_code: Code
    product_name: Text
    category: Code
    brand: Code
    type: Literal["prepaid", "postpaid"]
    price: Rupiah
    admin_fee: Rupiah
    status: Literal["active", "inactive"]
    description: Text = ""
    cut_off_start: Annotated[Clock | None, BeforeValidator(_empty_is_none)] = None
    cut_off_end: Annotated[Clock | None, BeforeValidator(_empty_is_none)] = None


class Products(Listing):
    """`data` of /v1/products."""

    products: list[Product]

    rows = "products"
    row = Product
    prefix = "product_"


class Transaction(Message):
    """A purchase or a bill payment (document, Transaction). `balance` is the account's after the operation.

    Money rests on seven fields, so a transaction without one of them is malformed: `ref_id`, `product_code` and
    `destination` say whose transaction it is, `trx_id` tells one transaction from a second one under the same ref_id,
    `price` is what the books debit, `status` ends the order, and `balance` is compared with the books.

    Three are for people, and may be absent or null: we show our own product name, and an outcome counts without a
    message. `sn` is None, not "", before it is known; a success may come without it, and its SN later. An SN that is a
    whole number is read as its digits.
    """

    trx_id: Code
    ref_id: RefId
    product_code: Code
    product_name: Words = ""
    destination: Code
    price: Rupiah
    status: Annotated[TransactionStatus, Field(strict=False)]
    sn: Annotated[Annotated[str, Field(max_length=4000)] | None, BeforeValidator(_sn)] = None
    message: Words = ""
    balance: SignedRupiah


class BillDetail(Message):
    """One month of a bill."""

    period: Text
    amount: Rupiah
    penalty: Rupiah


class BillInquiry(Message):
    """The result of an inquiry. While `pending` the money fields and `expires_at` are None; afterwards all are set.

    `total` is what a payment deducts (document, Bill inquiry result).
    """

    ref_id: RefId
    product_code: Code
    product_name: Words = ""
    destination: Code
    customer_name: Text = ""
    status: Annotated[InquiryStatus, Field(strict=False)]
    amount: Rupiah | None = None
    admin_fee: Rupiah | None = None
    penalty: Rupiah | None = None
    total: Rupiah | None = None
    period: Text = ""
    details: Annotated[list[BillDetail], BeforeValidator(lambda value: [] if value is None else value)] = []
    expires_at: Moment | None = None

    @model_validator(mode="after")
    def _bill_is_complete(self) -> Self:
        known: list[Any] = [self.amount, self.admin_fee, self.penalty, self.total, self.expires_at]
        if self.status is not InquiryStatus.PENDING and None in known:
            raise ValueError("a bill lacks an amount or its expiry")
        return self


class CallbackBody(Message):
    """The body of a callback: the event, when the upstream made it, and the transaction.

    The event's name must agree with the transaction's status: a message that contradicts itself is refused.
    """

    event: Literal["transaction.success", "transaction.failed"]
    timestamp: Moment
    data: Transaction

    @model_validator(mode="after")
    def _event_agrees(self) -> Self:
        if self.event != f"transaction.{self.data.status}":
            raise ValueError("event and status disagree")
        return self
