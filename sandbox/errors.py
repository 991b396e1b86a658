"""The service's refusals: every error code (document, Errors), and sentences that a person reads."""

from enum import Enum


class ErrorCode(Enum):
    """Every code that the service answers with: its HTTP status, and the message for a person."""

    INVALID_REQUEST = 400, "The request is not valid."
    INVALID_CREDENTIALS = 401, "The Secret ID is not known."
    INVALID_SIGNATURE = 401, "The signature is wrong."
    INSUFFICIENT_BALANCE = 402, "The balance is not sufficient."
    API_INACTIVE = 403, "The API is not activated."
    ACCOUNT_NOT_VERIFIED = 403, "The account is not verified."
    IP_NOT_ALLOWED = 403, "Requests from this IP address are not allowed."
    PRODUCT_NOT_FOUND = 404, "The product does not exist."
    TRANSACTION_NOT_FOUND = 404, "There is no transaction with this ref_id."
    BILL_NOT_FOUND = 404, "There is no inquiry with this ref_id."
    DUPLICATE_REF_ID = 409, "The ref_id was used before with another request."
    AMOUNT_MISMATCH = 409, "The amount is not the total of the inquiry."
    INQUIRY_PENDING = 409, "The inquiry is still pending."
    PRICE_CHANGED = 409, "The price is higher than max_price."
    INQUIRY_EXPIRED = 410, "The inquiry has expired."
    INVALID_DESTINATION = 422, "The destination is not valid."
    BILL_NOT_AVAILABLE = 422, "There is no bill to pay."
    BILL_ALREADY_PAID = 422, "The bill has already been paid."
    RATE_LIMITED = 429, "Too many requests."
    PRODUCT_UNAVAILABLE = 503, "The product is unavailable at the provider."
    CUT_OFF = 503, "The product is in its nightly cut-off."
    # in no document: a service may add codes some day
    WEIRD_NEW_CODE = 400, "Something new happened."

    def __init__(self, http_status: int, message: str) -> None:
        self.http_status = http_status
        self.message = message


class ApiError(Exception):
    """A definite refusal of the service, answered in the error envelope.

    `retry_after`: whole seconds, sent as a header. `message` and `http_status` replace the code's own.
    """

    def __init__(
        self, code: ErrorCode, message: str = "", *, retry_after: int | None = None, http_status: int | None = None
    ) -> None:
        self.code = code
        self.http_status = http_status or code.http_status
        self.message = message or code.message
        self.retry_after = retry_after
        super().__init__(code.name)


class NotPossible(Exception):
    """A refusal of the dashboard or the control API, with a sentence about the fault. Nothing was changed."""
