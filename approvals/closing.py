"""A branch stays open while a second person is to decide a sale that was asked for there."""

from approvals.acts import acts_that_keep_a_customer
from approvals.models import Approval
from branches.services import keeps_open


@keeps_open
def waits_in(branch: int) -> bool:
    """Whether a sale of this branch waits for its approval. A batch has its own test."""
    return Approval.objects.open().filter(branch=branch, act__in=acts_that_keep_a_customer()).exists()
