"""A branch stays open while a second person is to decide something that was asked for there."""

from __future__ import annotations

from approvals.models import Approval
from branches.services import keeps_open


@keeps_open
def waits_in(branch: int) -> bool:
    """Whether an approval of this branch waits: what it becomes is sold there."""
    return Approval.objects.open().filter(branch=branch).exists()
