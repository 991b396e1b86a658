"""Lets a second person approve, at the counter itself, the request of the signed-in person."""

from django.utils.translation import pgettext_lazy

from approvals.models import Approval
from approvals.services import approve, why_not_approved_by
from audit.acts import act
from staff.models import User
from staff.services.factors import Shown
from tills.services import confirm_in_person

APPROVE_HERE = act("approve_at_counter", pgettext_lazy("audit", "Approve at the counter"))


def approve_here(
    approval: Approval, *, approver: User, secret: str, code: str, asker: User, till_token: str
) -> Approval:
    """Approve it as `approver`, who stands beside the asker; return the approval in its new state.

    The approver types what a sign-in and an approval need: the password (at a till the PIN), and a code of the second
    factor. Raises the same as `confirm_in_person` and `approve`; nothing has happened then.
    """
    if refusal := why_not_approved_by(approval, approver):  # before a guess is counted
        raise refusal
    confirm_in_person(approver, secret, act=APPROVE_HERE, actor=asker, till_token=till_token)
    return approve(approval, actor=approver, factor=Shown(code, "", ""))
