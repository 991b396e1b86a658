"""A branch stays open while a batch of it may still sell rows."""

from batches.models import Batch
from branches.services import keeps_open


@keeps_open
def is_open_in(branch: int) -> bool:
    """Whether a batch of this branch has not ended: its orders belong to the branch."""
    return Batch.objects.filter(branch=branch, ended_at=None).exists()
