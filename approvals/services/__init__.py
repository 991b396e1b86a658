"""Ask for a second person's approval, and decide.

Lock order: the approval's row first, then the locks of its act. Somebody may ask while holding locks of the act's rows,
so asking never waits for an approval's row: an overdue one is left to a person who is deciding it.
"""

from approvals.services.asking import ask, open_approval
from approvals.services.deciding import approve, factor_content, refuse, why_not_approved_by, withdraw
from approvals.services.expiring import expire_overdue, note_executed
from approvals.services.independence import approvers_of, names_of_approvers, refused_to
from approvals.services.queue import changes_seen, in_branch, listed_for, may_open, may_see, opens_for, sees_queue
