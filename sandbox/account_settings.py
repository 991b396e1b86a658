"""Everything that a person sets in the dashboard's account page, for the dashboard, the control API and seeding."""

import secrets
from ipaddress import ip_network
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction

from sandbox.engine.ledger import lock_account, move
from sandbox.models import Account, CallbackStyle, MutationKind

LIMITS = ("ip", "account", "products", "window")
SEEDED = ("secret_id", "secret_key", "callback_url")


class NotPossible(Exception):
    """The sentence says what is wrong; nothing was changed."""


@transaction.atomic
def change(wanted: dict[str, Any]) -> Account:
    """Change what `wanted` names: balance (rupiah), api_active, verified, allowed_ips, callback_url, callback_style,
    limits ({"ip","account","products": requests, "window": seconds}; {} for the usual ones).

    Raises NotPossible for an unknown name or a value that cannot be.
    """
    account = lock_account()
    for name, value in wanted.items():
        if name not in CHECKS:
            raise NotPossible(f"{name} is not a setting of the account")
        CHECKS[name](value)
        if name == "balance":
            if value != account.balance:
                move(account, MutationKind.ADJUSTMENT, value - account.balance, note="set to a new balance")
        else:
            setattr(account, name, value)
    account.save()
    return account


@transaction.atomic
def regenerate_credentials() -> Account:
    """Give the account a new Secret ID and Secret Key; the old ones stop working at once."""
    account = lock_account()
    account.secret_id = f"sid_{secrets.token_hex(8)}"
    account.secret_key = f"sk_{secrets.token_urlsafe(32)}"
    account.save(update_fields=["secret_id", "secret_key"])
    return account


@transaction.atomic
def seed(*, secret_id: str, secret_key: str, callback_url: str, opening_balance: int) -> Account:
    """Make the account, or bring an older one's seeded settings up to date where nobody has changed them since.

    What somebody changed and then gives here counts as seeded again. Empty credentials: made up for a new account.
    Running it again changes nothing.
    """
    given = {"secret_id": secret_id, "secret_key": secret_key, "callback_url": callback_url}
    account = Account.objects.select_for_update().filter(pk=1).first()
    if account is None:
        account = Account(pk=1, balance=0, opening_balance=opening_balance)
        given["secret_id"] = secret_id or f"sid_{secrets.token_hex(8)}"
        given["secret_key"] = secret_key or f"sk_{secrets.token_urlsafe(32)}"
        account.seeded = given
        for name, value in given.items():
            setattr(account, name, value)
        account.save(force_insert=True)
        if opening_balance:
            move(account, MutationKind.TOPUP, opening_balance, note="opening balance")
        return account
    for name in SEEDED:
        if given[name] and getattr(account, name) in (account.seeded.get(name, ""), given[name]):
            setattr(account, name, given[name])
            account.seeded[name] = given[name]
    account.save()
    return account


def restore(account: Account) -> None:
    """Bring the locked account back to its opening balance and settings; credentials and callback URL stay."""
    account.balance = 0
    account.api_active = account.verified = True
    account.allowed_ips, account.limits = [], {}
    account.callback_style = CallbackStyle.HMAC_SHA256_BODY
    account.save()
    if account.opening_balance:
        move(account, MutationKind.TOPUP, account.opening_balance, note="opening balance")


def _is_balance(value: Any) -> None:
    if type(value) is not int or not 0 <= value <= 10**15:
        raise NotPossible("balance must be a whole number of rupiah, zero or more")


def _is_switch(value: Any) -> None:
    if not isinstance(value, bool):
        raise NotPossible("a switch is true or false")


def _are_networks(value: Any) -> None:
    if not isinstance(value, list):
        raise NotPossible("allowed_ips must be a list")
    for text in value:
        try:
            ip_network(text, strict=False)
        except ValueError as fault:
            raise NotPossible(f"{text} is not an IP address or network") from fault


def _is_url(value: Any) -> None:
    if not isinstance(value, str) or len(value) > 500:
        raise NotPossible("callback_url must be text of at most 500 characters")
    parts = urlsplit(value)
    if value and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise NotPossible("callback_url must be an http or https address")


def _is_style(value: Any) -> None:
    if value not in CallbackStyle.values:
        raise NotPossible(f"callback_style must be one of {', '.join(CallbackStyle.values)}")


def _are_limits(value: Any) -> None:
    if not isinstance(value, dict) or not set(value) <= set(LIMITS):
        raise NotPossible(f"limits may name {', '.join(LIMITS)}")
    for number in value.values():
        if isinstance(number, bool) or not isinstance(number, int | float) or number < 0:
            raise NotPossible("limits are numbers")


CHECKS = {
    "balance": _is_balance,
    "api_active": _is_switch,
    "verified": _is_switch,
    "allowed_ips": _are_networks,
    "callback_url": _is_url,
    "callback_style": _is_style,
    "limits": _are_limits,
}
