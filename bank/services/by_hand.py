"""A person's decisions about a row, with a reason; no automatic match changes the row afterwards."""

from django.db import transaction
from django.utils import timezone

from audit.events import Event
from audit.services import record
from bank.errors import BankRefused
from bank.events import BANK_ROW_MATCHED, BANK_ROW_SET_ASIDE, BANK_ROW_UNMATCHED
from bank.models import BankRow, State
from bank.services.items import Item
from bank.services.matching import lock_bank
from staff.models import User


@transaction.atomic
def match_by_hand(pk: int, item: Item, *, reason: str, actor: User) -> None:
    """Match an unknown row with this item. Raises `BankRefused`."""
    row = _locked(pk, State.UNKNOWN)
    if BankRow.objects.filter(item=item.key).exists():
        raise BankRefused("taken")
    row.state, row.item, row.item_day, row.item_amount = State.MATCHED, item.key, item.day, item.amount
    _decide(row, BANK_ROW_MATCHED, reason, actor, matched_with=item.key)


@transaction.atomic
def take_match_away(pk: int, *, reason: str, actor: User) -> None:
    """Make a matched row, or one that was set aside, unknown again. Raises `BankRefused`."""
    row = _locked(pk, State.MATCHED, State.ASIDE)
    before = row.item
    row.state, row.item, row.item_day, row.item_amount = State.UNKNOWN, None, None, None
    _decide(row, BANK_ROW_UNMATCHED, reason, actor, **({"matched_with": before} if before else {}))


@transaction.atomic
def set_aside(pk: int, *, reason: str, actor: User) -> None:
    """Note what an unknown row is, if no sale and no top-up explains it. Raises `BankRefused`."""
    row = _locked(pk, State.UNKNOWN)
    row.state = State.ASIDE
    _decide(row, BANK_ROW_SET_ASIDE, reason, actor)


def _locked(pk: int, *states: State) -> BankRow:
    lock_bank()
    row = BankRow.objects.select_for_update().filter(pk=pk).first()
    if row is None:
        raise BankRefused("gone")
    if row.state not in states:
        raise BankRefused("moved")
    return row


def _decide(row: BankRow, event: Event, reason: str, actor: User, **facts: str) -> None:
    row.reason, row.decided_by, row.decided_at = reason, actor, timezone.now()
    row.save(update_fields=["state", "item", "item_day", "item_amount", "reason", "decided_by", "decided_at"])
    facts |= {"day": row.day.isoformat(), "reason": reason}
    record(event, actor=actor, subject=str(row.pk), facts={**facts, "amount": row.amount})
