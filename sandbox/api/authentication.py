"""Checks who calls, and whether the account may be used (document, Authentication; What the service does, 6)."""

import hashlib
import hmac
from ipaddress import ip_address, ip_network
from typing import Any

from sandbox.api import fields
from sandbox.errors import ApiError, ErrorCode
from sandbox.models import Account


def expected_signature(account: Account, ref_id: str | None) -> str:
    """MD5 of secret_id:secret_key, with :ref_id where the endpoint has one; lower-case hex."""
    parts = [account.secret_id, account.secret_key, *([] if ref_id is None else [ref_id])]
    return hashlib.md5(":".join(parts).encode()).hexdigest()  # noqa: S324 - the service's formula


def check_credentials(account: Account, body: dict[str, Any]) -> None:
    """Raise ApiError INVALID_CREDENTIALS unless `secret_id` is the account's."""
    given = fields.text(body, "secret_id", longest=128)
    if not hmac.compare_digest(given.encode(), account.secret_id.encode()):
        raise ApiError(ErrorCode.INVALID_CREDENTIALS)


def check_signature(account: Account, body: dict[str, Any], *, with_ref_id: bool) -> None:
    """Raise ApiError INVALID_SIGNATURE unless `signature` is right for this body."""
    given = fields.text(body, "signature", longest=128)
    ref_id = fields.ref_id(body) if with_ref_id else None
    if not hmac.compare_digest(given.encode(), expected_signature(account, ref_id).encode()):
        raise ApiError(ErrorCode.INVALID_SIGNATURE)


def check_usable(account: Account, source_ip: str) -> None:
    """Raise ApiError API_INACTIVE, ACCOUNT_NOT_VERIFIED or IP_NOT_ALLOWED unless the account may be used from there."""
    if not account.api_active:
        raise ApiError(ErrorCode.API_INACTIVE)
    if not account.verified:
        raise ApiError(ErrorCode.ACCOUNT_NOT_VERIFIED)
    if account.allowed_ips and not any(
        ip_address(source_ip) in ip_network(allowed, strict=False) for allowed in account.allowed_ips
    ):
        raise ApiError(ErrorCode.IP_NOT_ALLOWED)
