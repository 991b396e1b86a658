"""What the client sends, what it returns, and what it refuses to do."""

import hashlib
import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import redis
from django.db import transaction
from pytest_django.fixtures import Settings
from structlog.testing import capture_logs

from tests.upstream.scripted_upstream import Cut, MakeClient, MakeConfig, ScriptedUpstream
from upstream.budget import CallClass
from upstream.client import Client, Endpoint, Limit, get_client
from upstream.config import Config, Rate
from upstream.errors import (
    CallInsideTransaction,
    ErrorCode,
    Misconfigured,
    OutcomeUnknown,
    Rejected,
    Unavailable,
    UpstreamError,
)
from upstream.messages import InquiryStatus, TransactionStatus

TRANSACTION = {
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
INQUIRY = {
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
PRODUCT = {
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


def success(data: Any) -> dict[str, Any]:
    return {"code": 200, "status": "success", "message": "ok", "data": data}


def md5(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()  # noqa: S324 (the upstream's formula)


BUY = {"ref_id": "R1", "product_code": "TSEL10", "destination": "081234567890"}
CALLS: list[tuple[Callable[[Client], Any], str, Any, dict[str, Any]]] = [
    (lambda c: c.balance(), "/v1/balance", {"balance": 5}, {}),
    (lambda c: c.categories(), "/v1/categories", {"categories": []}, {}),
    (lambda c: c.brands("PULSA"), "/v1/brands", {"brands": []}, {"category": "PULSA"}),
    (
        lambda c: c.products(brand="XL", type="prepaid"),
        "/v1/products",
        {"products": [PRODUCT]},
        {"brand": "XL", "type": "prepaid"},
    ),
    (
        lambda c: c.create_transaction(**BUY, max_price=10_500),
        "/v1/transaction/create",
        TRANSACTION,
        {**BUY, "max_price": 10_500},
    ),
    (lambda c: c.create_transaction(**BUY, max_price=None), "/v1/transaction/create", TRANSACTION, BUY),
    (lambda c: c.transaction_status(ref_id="R1"), "/v1/transaction/status", TRANSACTION, {"ref_id": "R1"}),
    (lambda c: c.bill_inquiry(**BUY), "/v1/bill/inquiry", INQUIRY, BUY),
    (
        lambda c: c.bill_pay(ref_id="R1", amount=152_500),
        "/v1/bill/pay",
        TRANSACTION,
        {"ref_id": "R1", "amount": 152_500},
    ),
    (lambda c: c.bill_pay(ref_id="R1", amount=None), "/v1/bill/pay", TRANSACTION, {"ref_id": "R1"}),
]


@pytest.mark.parametrize("case", CALLS, ids=lambda case: case[1])
def test_each_method_posts_signed_json_and_returns_the_data(
    upstream: ScriptedUpstream, client: Client, case: Any
) -> None:
    call, path, data, sent = case
    upstream.answers(200, success(data))
    before = datetime.now(UTC)

    answer = call(client)

    [request] = upstream.requests
    credentials = f"{client.config.secret_id}:{client.config.secret_key}"
    signature = md5(f"{credentials}:R1" if "ref_id" in sent else credentials)
    assert request.path == path
    assert request.body == {"secret_id": client.config.secret_id, "signature": signature, **sent}
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"] == "merchant-backoffice"
    assert answer.raw == success(data)
    assert before <= answer.sent_at <= answer.received_at <= datetime.now(UTC)
    assert not answer.clock_was_set


def test_a_transaction_is_read_field_by_field(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.answers(200, success({**TRANSACTION, "status": "success", "sn": "0042/ABC", "points": 1.5}))

    answer = client.create_transaction(**BUY, max_price=None)

    assert answer.data.status is TransactionStatus.SUCCESS
    assert (answer.data.trx_id, answer.data.sn, answer.data.price, answer.data.balance) == (
        "T1",
        "0042/ABC",
        10_250,
        1_489_750,
    )
    assert answer.raw["data"]["points"] == 1.5  # unknown fields are kept for the record


def test_a_valid_inquiry_is_read_with_an_aware_expiry(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.answers(200, success(INQUIRY))

    inquiry = client.bill_inquiry(**BUY).data

    assert inquiry.status is InquiryStatus.VALID
    assert inquiry.total == 152_500
    assert inquiry.expires_at == datetime(2026, 8, 22, 3, 5, tzinfo=UTC)
    assert inquiry.details[0].amount == 150_000


def test_a_pending_inquiry_has_no_amounts_yet(upstream: ScriptedUpstream, client: Client) -> None:
    nothing = dict.fromkeys(["amount", "admin_fee", "penalty", "total", "expires_at", "details", "customer_name"])
    upstream.answers(200, success({**INQUIRY, "status": "pending", **nothing}))

    inquiry = client.bill_inquiry(**BUY).data

    assert inquiry.status is InquiryStatus.PENDING
    assert inquiry.total is None
    assert inquiry.details == []


def test_reads_share_a_connection_and_money_calls_never_use_an_old_one(
    upstream: ScriptedUpstream, client: Client
) -> None:
    upstream.answers(200, success({"balance": 5}), keep=True)
    client.balance()
    client.balance()
    upstream.answers(200, success(TRANSACTION), keep=True)
    client.create_transaction(**BUY, max_price=None)
    client.bill_pay(ref_id="R1", amount=None)

    assert [request.connection for request in upstream.requests] == [1, 1, 2, 3]
    assert upstream.requests[3].headers["connection"] == "close"


def test_settings_make_the_client_and_a_changed_setting_makes_another(settings: Settings) -> None:
    settings.UPSTREAM_SECRET_ID = "first"
    settings.UPSTREAM_ACCOUNT_RATE = "60/minute"
    first = get_client()
    assert get_client() is first
    assert first.config.account_rate == Rate(60, 60.0)

    settings.UPSTREAM_SECRET_ID = "second"

    assert get_client().config.secret_id == "second"


# --- What is refused before anything is sent   ----------------


@pytest.mark.parametrize(
    "change",
    [
        {"base_url": ""},
        {"secret_id": ""},
        {"secret_key": ""},
        {"base_url": "http://api.example.com"},
        {"base_url": "http://127.0.0.1.example.com"},
        {"base_url": "ftp://127.0.0.1"},
        {"base_url": "https://user:word@api.example.com"},
        {"base_url": "https://api.example.com/?a=1"},
        {"base_url": "https://api.example.com:port"},
        {"base_url": "https://[oops"},
        {"base_url": "api.example.com"},
        {"read_timeout": 0.0},
    ],
    ids=str,
)
def test_wrong_settings_send_nothing(
    upstream: ScriptedUpstream, make_client: MakeClient, change: dict[str, Any]
) -> None:
    client = make_client(**change)

    with pytest.raises(Misconfigured) as caught:
        client.create_transaction(**BUY, max_price=None)

    assert caught.value.error_code is None
    assert upstream.connections == 0


@pytest.mark.parametrize(
    ("base_url", "safe"),
    [
        ("https://api.example.com", True),
        ("https://api.example.com:8443/gateway", True),
        ("http://localhost:8001", True),
        ("http://127.8.0.1", True),
        ("http://[::1]:8001", True),
        ("http://10.0.0.1", False),
    ],
)
def test_plain_http_is_for_this_machine_only(make_config: MakeConfig, base_url: str, safe: bool) -> None:
    config = make_config(base_url=base_url)
    if safe:
        config.check()
    else:
        with pytest.raises(Misconfigured):
            config.check()


@pytest.mark.parametrize("text", ["", "120", "120/day", "0/minute", "-1/minute", "1.5/second", "x/minute", "²/minute"])
def test_a_rate_that_cannot_be_read_is_misconfigured(text: str) -> None:
    with pytest.raises(Misconfigured):
        Rate.parse(text)


@pytest.mark.parametrize(
    "arguments",
    [
        {**BUY, "ref_id": ""},
        {**BUY, "ref_id": "R" * 65},
        {**BUY, "ref_id": "R1\n"},
        {**BUY, "ref_id": "R 1"},
        {**BUY, "product_code": ""},
        {**BUY, "destination": "0812\x00"},
        {**BUY, "max_price": -1},
        {**BUY, "max_price": True},
        {**BUY, "max_price": 10.5},
    ],
    ids=str,
)
def test_a_request_that_can_never_be_valid_is_not_sent(
    upstream: ScriptedUpstream, client: Client, arguments: dict[str, Any]
) -> None:
    with pytest.raises(Rejected) as caught:
        client.create_transaction(**{"max_price": None, **arguments})

    assert caught.value.error_code is ErrorCode.INVALID_REQUEST
    assert caught.value.balance_untouched
    assert upstream.connections == 0


@pytest.mark.django_db(transaction=True)
def test_a_call_inside_a_database_transaction_is_refused_at_once(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.answers(200, success({"balance": 5}))

    with transaction.atomic(), pytest.raises(CallInsideTransaction):
        client.balance()

    assert upstream.connections == 0
    assert client.balance().data.balance == 5  # and outside it is fine


@pytest.mark.django_db
def test_the_transaction_around_a_test_does_not_count_but_one_within_it_does(
    upstream: ScriptedUpstream, client: Client
) -> None:
    upstream.answers(200, success({"balance": 5}))

    assert client.balance().data.balance == 5
    with transaction.atomic(), pytest.raises(CallInsideTransaction):
        client.balance()


# --- Permits   ----------------


@pytest.fixture
def slow_pace(make_client: MakeClient) -> Client:
    """A client that may make one call in about seven seconds."""
    return make_client(account_rate=Rate(9, 60.0))


def test_a_permit_handed_in_is_the_one_that_is_used(upstream: ScriptedUpstream, slow_pace: Client) -> None:
    upstream.answers(200, success({"balance": 5}))
    permit = slow_pace.reserve(Endpoint.BALANCE, call_class=CallClass.BACKGROUND)

    assert slow_pace.balance(permit=permit).data.balance == 5

    with pytest.raises(Unavailable) as caught:
        slow_pace.balance()
    assert caught.value.reason == "budget"
    assert caught.value.retry_after
    assert len(upstream.requests) == 1


@pytest.mark.parametrize("misuse", ["twice", "for another endpoint"])
def test_a_permit_is_good_for_one_call_to_its_endpoint(
    upstream: ScriptedUpstream, slow_pace: Client, misuse: str
) -> None:
    upstream.answers(200, success({"balance": 5}))
    endpoint = Endpoint.BALANCE if misuse == "twice" else Endpoint.CATEGORIES
    permit = slow_pace.reserve(endpoint, call_class=CallClass.BACKGROUND)
    if misuse == "twice":
        slow_pace.balance(permit=permit)
    sent = len(upstream.requests)

    with pytest.raises(Unavailable):
        slow_pace.balance(permit=permit)  # needs a new one, and there is none

    assert len(upstream.requests) == sent


def test_an_interactive_call_that_could_not_go_out_in_time_is_refused_at_once(
    upstream: ScriptedUpstream, make_client: MakeClient
) -> None:
    client = make_client(account_rate=Rate(2, 3600.0), interactive_wait=10.0)
    client.reserve(Endpoint.BALANCE, call_class=CallClass.INTERACTIVE)

    with pytest.raises(Unavailable) as caught:
        client.create_transaction(**BUY, max_price=None)

    assert caught.value.retry_after > 10
    assert upstream.connections == 0


def test_an_answered_call_counts_for_one_window_and_a_lost_one_for_longer(
    upstream: ScriptedUpstream, make_client: MakeClient, cut: Cut
) -> None:
    client = make_client(account_rate=Rate(100, 60.0))
    calls, _ = client.budget._keys(Limit.ACCOUNT)
    valkey = redis.Redis.from_url(client.config.redis_url)

    def seconds_left() -> float:
        """How long the call that counts longest will still count."""
        seconds, microseconds = valkey.time()
        [(_, score)] = valkey.zrange(calls, -1, -1, withscores=True)
        return score / 1_000_000 - seconds - microseconds / 1_000_000

    upstream.answers(200, success({"balance": 5}))
    client.balance()
    assert 50 < seconds_left() <= 60

    upstream.behaviour = lambda connection, _: cut(connection) or False
    with pytest.raises(OutcomeUnknown):
        client.create_transaction(**BUY, max_price=None)
    assert seconds_left() > 60 + client.config.deadline


# --- Secrets   ----------------


@pytest.fixture
def everything_logged(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], str]]:
    caplog.set_level(logging.DEBUG)
    with capture_logs() as entries:
        yield lambda: f"{entries}{caplog.text}"


@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_secrets_never_reach_logs_errors_or_what_is_stored(
    upstream: ScriptedUpstream, client: Client, everything_logged: Callable[[], str], status: int
) -> None:
    signature = md5(f"{client.config.secret_id}:{client.config.secret_key}:R1")
    echo = f"signature {signature} made with {client.config.secret_key} is wrong"
    error_code = {400: "INVALID_REQUEST", 401: "INVALID_SIGNATURE"}.get(status)
    upstream.answers(
        status,
        {"code": status, "status": "success" if status == 200 else "error", "error_code": error_code, "message": echo}
        | {"data": {**TRANSACTION, "message": echo}, signature: echo},
    )

    try:
        shown = repr(client.create_transaction(**BUY, max_price=None))
    except UpstreamError as error:
        shown = f"{error} {error!r} {error.__dict__} {error.__context__}"

    for secret in (signature, client.config.secret_key):
        assert secret not in shown + everything_logged() + repr(client.config)


def test_a_failed_connection_shows_no_secret_either(
    upstream: ScriptedUpstream, client: Client, everything_logged: Callable[[], str], cut: Cut
) -> None:
    upstream.behaviour = lambda connection, _: cut(connection) or False
    signature = md5(f"{client.config.secret_id}:{client.config.secret_key}:R1")

    with pytest.raises(OutcomeUnknown) as caught:
        client.create_transaction(**BUY, max_price=None)

    chain = [caught.value, caught.value.__cause__, caught.value.__context__]
    for secret in (signature, client.config.secret_key):
        assert secret not in f"{chain!r}{everything_logged()}"


def test_each_call_is_logged_with_endpoint_ref_id_outcome_and_time(upstream: ScriptedUpstream, client: Client) -> None:
    upstream.answers(409, {"code": 409, "status": "error", "error_code": "PRICE_CHANGED", "message": "naik"})

    with capture_logs() as entries, pytest.raises(Rejected):
        client.create_transaction(**BUY, max_price=1)

    [entry] = entries
    assert entry["log_level"] == "info"
    assert (entry["endpoint"], entry["ref_id"], entry["outcome"]) == (
        "transaction_create",
        "R1",
        "Rejected: PRICE_CHANGED",
    )
    assert entry["ms"] >= 0


def test_config_shows_neither_the_key_nor_the_password_of_redis() -> None:
    config = Config("https://x", "id", "key-of-the-shop", "redis://:word-of-redis@h/0")

    assert "key-of-the-shop" not in repr(config)
    assert "word-of-redis" not in repr(config)
