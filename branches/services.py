"""Reads and changes the branches."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import structlog
from django.db import IntegrityError, connection, transaction

from audit.services import record
from branches.errors import BranchRefused
from branches.events import BRANCH_ADDED, BRANCH_CHANGED, BRANCH_CLOSED
from branches.models import Branch, BranchHistory
from core import clock
from core.parts import FromRooms

if TYPE_CHECKING:
    from staff.models import User

# A process reads the rows once in this many seconds: many pages need them.
_KEPT_SECONDS = 5.0
# The columns of a branch that people change
TEXTS = ("name", "address", "phone", "footer")
_QUESTIONS: FromRooms[Callable[[int], bool]] = FromRooms("closing")
#: A decorator of a room's function of a branch's key: whether a sale still waits in the branch.
keeps_open = _QUESTIONS.add

log = structlog.get_logger()


def all_branches() -> dict[int, Branch]:
    """Every branch by its key, open ones first; a change is seen in every process within five seconds."""
    return _rows(int(time.monotonic() / _KEPT_SECONDS))


@lru_cache(maxsize=1)
def _rows(_moment: int) -> dict[int, Branch]:
    return {branch.pk: branch for branch in Branch.objects.order_by("-closed_at", "name", "pk")}


def forget() -> None:
    """Read the rows again at the next use."""
    _rows.cache_clear()


def has_several() -> bool:
    """Whether the shop has, or had, more than one: only then a page uses the word."""
    return len(all_branches()) > 1


def first_open() -> int:
    """The key of the oldest open branch: it counts if nobody names one, such as for a sale by a command."""
    return min(pk for pk, branch in all_branches().items() if branch.closed_at is None)


def branch_names() -> list[tuple[int, str]]:
    """Every branch, for a list's filter; none while there is only one."""
    return [(pk, branch.name) for pk, branch in all_branches().items()] if has_several() else []


def open_names() -> list[tuple[int, str]]:
    """The open branches, for a form; none while there is only one branch."""
    return [(pk, name) for pk, name in branch_names() if all_branches()[pk].closed_at is None]


def branch_name(pk: int) -> str:
    """The name of a branch; empty while there is only one."""
    return dict(branch_names()).get(pk, "")


def branch_to_show(pk: int) -> Branch | None:
    """The branch whose address, phone and last lines a receipt shows; None while there is only one."""
    return all_branches()[pk] if has_several() else None


def branch_version(pk: int) -> Any:
    """The newest row of this branch's history, which never changes; None while there is only one branch."""
    return BranchHistory.objects.filter(pgh_obj=pk).order_by("-pgh_id").first() if has_several() else None


def add_branch(texts: Mapping[str, str], *, actor: User) -> Branch:
    """A new branch with these texts (`TEXTS`). Raises `BranchRefused` for a taken name."""
    try:
        with transaction.atomic():
            branch = Branch.objects.create(**texts)
            record(BRANCH_ADDED, actor=actor, subject=str(branch.pk), after=dict(texts))
            transaction.on_commit(forget)
    except IntegrityError:
        raise BranchRefused("name_taken") from None
    log.info("branch_added", by=actor.pk, branch=branch.pk)
    return branch


def change_branch(branch: Branch, texts: Mapping[str, str], *, actor: User) -> None:
    """Give the branch these of its texts. Earlier prints stay as they were. Raises `BranchRefused` for a taken name."""
    try:
        with transaction.atomic():
            current = Branch.objects.select_for_update(no_key=True).get(pk=branch.pk)
            before = {name: getattr(current, name) for name in TEXTS}
            for name, text in texts.items():
                setattr(current, name, text)
            current.save(update_fields=[*texts])
            if before != (after := before | dict(texts)):
                record(BRANCH_CHANGED, actor=actor, subject=str(current.pk), before=before, after=after)
            transaction.on_commit(forget)
    except IntegrityError:
        raise BranchRefused("name_taken") from None
    log.info("branch_changed", by=actor.pk, branch=current.pk)


def keep_open(branch: int) -> None:
    """Keep the branch with this key open until the transaction ends, because a person or row comes to it.

    Raises `BranchRefused` if it is closed. The foreign key of a new row would lock the branch only at the end of the
    transaction.
    """
    with connection.cursor() as cursor:
        # waits for `close_branch` alone, and nobody else waits for it
        cursor.execute("SELECT closed_at IS NULL FROM branches_branch WHERE id = %s FOR KEY SHARE", [branch])
        if cursor.fetchone() != (True,):
            raise BranchRefused("closed")


def keep_first_open() -> int:
    """The key of the oldest open branch, which stays open until the transaction ends; `first_open` may be stale."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id FROM branches_branch WHERE closed_at IS NULL ORDER BY id LIMIT 1 FOR KEY SHARE")
        return int(cursor.fetchone()[0])


def close_branch(branch: Branch, *, actor: User) -> None:
    """Close the branch: no form offers it any more. Its sales stay, with its name.

    Raises `BranchRefused` for the last open one, while somebody or something in use belongs to it, and while a sale
    waits for approval or a batch is open in it.
    """
    with transaction.atomic():
        current = Branch.objects.select_for_update().get(pk=branch.pk)
        if current.closed_at is not None:
            return
        if not Branch.objects.filter(closed_at=None).exclude(pk=current.pk).exists():
            raise BranchRefused("last")
        if (
            current.people.filter(is_active=True).exists()
            or current.drawers.filter(is_active=True).exists()
            or current.tills.filter(switched_off_at=None).exists()
        ):
            raise BranchRefused("in_use")
        if any(question(current.pk) for question in _QUESTIONS.all()):
            raise BranchRefused("waits")
        current.closed_at = clock.now()
        current.save(update_fields=["closed_at"])
        record(BRANCH_CLOSED, actor=actor, subject=str(current.pk))
        transaction.on_commit(forget)
    log.info("branch_closed", by=actor.pk, branch=current.pk)
