"""The audit's events about an approval."""

from typing import Any

from approvals.models import Approval
from audit.events import Event
from audit.services import record
from staff.models import User


def note(
    event: Event,
    approval: Approval,
    *,
    person: User | None = None,
    alone: bool = False,
) -> None:
    """One row in the caller's transaction: the request or the decision, with its content and hash.

    `alone`: the two were not independent of each other, and nobody else could approve.
    """
    facts = _facts(approval) | ({"alone": True} if alone else {})
    record(event, actor=person, subject=f"approval:{approval.pk}", facts=facts)


def _facts(approval: Approval) -> dict[str, Any]:
    return {
        "act": approval.act,
        "subject": approval.subject,
        "sha256": approval.sha256,
        "content": approval.facts,
        "state": str(approval.state),
        "asked_by": approval.asked_by_id,
        "reason": approval.decision_reason or approval.reason,
        "result": approval.result,
        "changes": approval.changes,
    }
