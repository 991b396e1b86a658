"""The account: its settings and its balance. Every movement is one row, written under the account's lock."""

import secrets
from collections.abc import Callable
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction

from sandbox.errors import NotPossible
from sandbox.models import Account, CallbackStyle, Mutation, MutationKind

LIMITS = ("ip", "account", "products", "window")
LARGEST_BALANCE = 10**15
LARGEST_LIMIT = 10**6


def lock_account() -> Account:
    """The account, locked until the end of the transaction. Everything that changes state takes this lock first."""
    return Account.objects.select_for_update().get(pk=1)


def move(account: Account, kind: MutationKind, amount: int, *, ref_id: str = "", note: str = "") -> Mutation:
    """Move the balance of the locked `account` by `amount` (rupiah, signed) and write the movement.

    Raises django.db.IntegrityError if the balance would be negative, or on a second debit or refund of a ref_id.
    """
    account.balance += amount
    account.save(update_fields=["balance"])
    return Mutation.objects.create(kind=kind, ref_id=ref_id, amount=amount, balance_after=account.balance, note=note)


@transaction.atomic
def top_up(amount: int, *, note: str) -> Mutation:
    """Add `amount` (rupiah, above zero) to the balance."""
    return move(lock_account(), MutationKind.TOPUP, amount, note=note)


@transaction.atomic
def spend(amount: int) -> None:
    """Take `amount` (rupiah, above zero) without an order. Raises NotPossible if the balance is too low."""
    account = lock_account()
    if account.balance < amount:
        raise NotPossible("the balance does not cover this amount")
    move(account, MutationKind.ADJUSTMENT, -amount, note="spent in the dashboard")


@transaction.atomic
def change(wanted: dict[str, Any]) -> Account:
    """Change the fields in `wanted`: balance (rupiah), api_active, verified, allowed_ips, callback_url, callback_style,
    limits ({"ip", "account", "products": requests, "window": seconds}; {} for the usual ones).

    Raises NotPossible for an unknown name or a value that is not valid.
    """
    account = lock_account()
    for name, value in wanted.items():
        if name not in CHECKS:
            raise NotPossible(f"{name} is not a setting of the account")
        is_valid, needed = CHECKS[name]
        if not is_valid(value):
            raise NotPossible(f"{name} must be {needed}")
        if name != "balance":
            setattr(account, name, value)
        elif value != account.balance:
            move(account, MutationKind.ADJUSTMENT, value - account.balance, note="set to a new balance")
    account.save()
    return account


@transaction.atomic
def regenerate_credentials() -> None:
    """Give the account a new Secret ID and Secret Key; the old ones stop working at once."""
    account = lock_account()
    account.secret_id, account.secret_key = _new_secret_id(), _new_secret_key()
    account.save(update_fields=["secret_id", "secret_key"])


@transaction.atomic
def seed(*, secret_id: str, secret_key: str, callback_url: str, opening_balance: int) -> Account:
    """Create the account, or update the settings of an earlier seeding that nobody has changed since.

    If the given value equals the one that a person set, it counts as seeded again. A new account gets generated
    credentials if the given ones are empty. A second run changes nothing.
    """
    given = {"secret_id": secret_id, "secret_key": secret_key, "callback_url": callback_url}
    account = Account.objects.select_for_update().filter(pk=1).first()
    if account is None:
        given |= {"secret_id": secret_id or _new_secret_id(), "secret_key": secret_key or _new_secret_key()}
        account = Account.objects.create(pk=1, balance=0, opening_balance=opening_balance, seeded=given, **given)
        _open(account)
        return account
    for name, value in given.items():
        if value and getattr(account, name) in (account.seeded.get(name, ""), value):
            setattr(account, name, value)
            account.seeded[name] = value
    account.save()
    return account


def restore(account: Account) -> None:
    """Set the locked account back to its opening balance and settings; credentials and callback URL stay."""
    account.balance = 0
    account.api_active = account.verified = True
    account.allowed_ips, account.limits = [], {}
    account.callback_style = CallbackStyle.HMAC_SHA256_BODY
    account.save()
    _open(account)


def _open(account: Account) -> None:
    if account.opening_balance:
        move(account, MutationKind.TOPUP, account.opening_balance, note="opening balance")


def _new_secret_id() -> str:
    return f"sid_{secrets.token_hex(8)}"


def _new_secret_key() -> str:
    return f"sk_{secrets.token_urlsafe(32)}"


def _is_balance(value: Any) -> bool:
    return type(value) is int and 0 <= value <= LARGEST_BALANCE


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool)


def _are_networks(value: Any) -> bool:
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        return False
    try:
        for text in value:
            ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _is_url(value: Any) -> bool:
    if not isinstance(value, str) or len(value) > 500 or not value.isprintable():
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return not value or (parts.scheme in ("http", "https") and bool(parts.hostname))


def _is_style(value: Any) -> bool:
    return value in CallbackStyle.values


def _are_limits(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) <= set(LIMITS)
        and all(
            type(number) in ((int, float) if name == "window" else (int,)) and 0 <= number <= LARGEST_LIMIT
            for name, number in value.items()
        )
    )


# setting → whether a value is valid, and the words for a valid one
CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "balance": (_is_balance, "a whole number of rupiah, zero or more"),
    "api_active": (_is_switch, "true or false"),
    "verified": (_is_switch, "true or false"),
    "allowed_ips": (_are_networks, "a list of IP addresses or networks"),
    "callback_url": (_is_url, "an http or https address of at most 500 characters"),
    "callback_style": (_is_style, f"one of {', '.join(CallbackStyle.values)}"),
    "limits": (_are_limits, f"an object of numbers with the names {', '.join(LIMITS)}"),
}
