"""Binding a person to their branch: from then on the person sees only what belongs to it. Only owners do."""

from __future__ import annotations

import structlog
from django.db import transaction

from audit.services import record
from core import clock
from core.rights import Right
from staff.errors import NotAllowed
from staff.events import STAFF_BOUND
from staff.models import User
from staff.services.guards import lock_for_change

log = structlog.get_logger()


def bind(person: User, *, is_bound: bool, actor: User) -> None:
    """Have the person see only the own branch, or all of them again; from the next page on.

    Raises `NotAllowed` for everybody but owners, and about an owner.
    """
    with transaction.atomic():
        locked = lock_for_change(person, actor=actor)
        if not actor.has_perm(Right.CHANGE_ROLES):
            raise NotAllowed("owner_binds")
        if locked.is_superuser:
            raise NotAllowed("owner_sees_all")
        before = locked.bound_since is not None
        if before == is_bound:
            return
        locked.bound_since = clock.now() if is_bound else None
        locked.save(update_fields=["bound_since"])
        record(
            STAFF_BOUND,
            actor=actor,
            subject=locked.username,
            before={"is_bound": before},
            after={"is_bound": is_bound},
            facts={"branch": locked.branch_id},
        )
    log.info("staff_bound", by=actor.pk, person=locked.pk, branch=locked.branch_id, is_bound=is_bound)
