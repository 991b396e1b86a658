"""The account's balance: every movement is one row, written under the account's lock."""

from django.db import transaction

from sandbox.models import Account, Mutation, MutationKind


def lock_account() -> Account:
    """The account, locked until the end of the transaction. The first lock of everything that changes state."""
    return Account.objects.select_for_update().get(pk=1)


def move(account: Account, kind: MutationKind, amount: int, *, ref_id: str = "", note: str = "") -> Mutation:
    """Move the balance of the locked `account` by `amount` (rupiah, signed) and write the movement.

    Raises django.db.IntegrityError if the balance would be negative, or on a second debit or refund of a ref_id.
    """
    account.balance += amount
    account.save(update_fields=["balance"])
    return Mutation.objects.create(
        kind=kind, ref_id=ref_id, amount=amount, balance_after=account.balance, note=note[:200]
    )


@transaction.atomic
def top_up(amount: int, *, note: str = "") -> Mutation:
    """Add `amount` (rupiah, above zero) to the balance."""
    return move(lock_account(), MutationKind.TOPUP, amount, note=note)


@transaction.atomic
def adjust(amount: int, *, note: str = "") -> Mutation | None:
    """Move the balance by `amount` outside of any transaction, as spending in the dashboard does.

    None, and nothing done, if the balance does not cover it.
    """
    account = lock_account()
    if account.balance + amount < 0:
        return None
    return move(account, MutationKind.ADJUSTMENT, amount, note=note)


@transaction.atomic
def set_balance(balance: int) -> None:
    """Make the balance exactly `balance` (rupiah, zero or more) by one adjustment."""
    account = lock_account()
    if account.balance != balance:
        move(account, MutationKind.ADJUSTMENT, balance - account.balance, note="set to a new balance")
