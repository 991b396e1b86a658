"""Which open approvals would be void now, for the pages that show them. Nothing is locked, and nothing decided."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from approvals.acts import Act, Seen, act_named
from approvals.errors import ApprovalRefused
from approvals.models import Approval, canonical
from core.errors import Refused
from core.together import read_together
from staff.models import User


def changes_seen(approvals: Collection[Approval]) -> dict[int, dict[str, Any]]:
    """Why each of these would be void now, by its key, in the form of `Approval.changes`; the others are left out.

    One statement. It finds what is read cheaply; `approve` finds the rest, under the locks of the act.
    """
    by_act: dict[Act, list[Approval]] = defaultdict(list)
    for approval in approvals:
        if approval.is_open and (act := act_named(approval.act)):
            by_act[act].append(approval)
    if not by_act:
        return {}
    keys = {approval.asked_by_id for some in by_act.values() for approval in some}
    keys |= {key for act, some in by_act.items() for approval in some for key in act.people_in(approval.facts)}
    asked = {act: act.questions(some) for act, some in by_act.items()}
    everybody = User.objects.filter(pk__in=keys).with_rights()
    people, *answers = read_together(everybody, *(question for some in asked.values() for question in some))
    known = {person.pk: person for person in people}
    changes_by_key: dict[int, dict[str, Any]] = {}
    for act, some in by_act.items():
        own, answers = answers[: len(asked[act])], answers[len(asked[act]) :]
        seen = Seen(people=known, answers=own, is_alone=len(approvals) == 1)
        changes_by_key |= {approval.pk: changes for approval in some if (changes := _changes(act, approval, seen))}
    return changes_by_key


def differences(asked: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The changes since the request: {name: [asked for, found]}."""
    return {
        name: [asked.get(name), now.get(name)]
        for name in sorted(asked.keys() | now.keys())
        if asked.get(name) != now.get(name)
    }


def _changes(act: Act, approval: Approval, seen: Seen) -> dict[str, Any]:
    try:
        if not act.may_be_asked_by(seen.people[approval.asked_by_id]):
            raise ApprovalRefused("not_asker")
        content_now = json.loads(canonical(act.content_seen(approval, seen)))
    except Refused as refusal:
        return {"code": refusal.code, "words": str(refusal)}
    return differences(approval.facts, content_now)
