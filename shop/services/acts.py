"""The act that takes a second person: policies that make a check looser."""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from approvals import services as approvals
from approvals.acts import Act, Line, Seen, register
from approvals.models import Approval, Content
from core.rights import Right
from policies.errors import LooserNeedsTwo, NoReason
from policies.services import change_policies, lock_policies, saved_policies, values_of, would_be_looser
from policies.words import WORDS, value_in_words
from staff.models import User


def refuse_without_reason(wanted: Mapping[str, Any], *, reason: str) -> None:
    """Raise `NoReason` if there is no reason, and a second person would have to approve these policies."""
    if not reason and would_be_looser(wanted):
        raise NoReason


def ask_for_policies(need: LooserNeedsTwo, *, actor: User, reason: str) -> Approval:
    """Ask a second person to approve the change; nothing changes until then.

    Raises `NoReason` without a reason, and `AlreadyAsked` while another change waits.
    """
    if not reason:
        raise NoReason
    return approvals.ask(
        PoliciesAct.name, subject="policies", content=need.content, actor=actor, reason=reason, about=""
    )


@register
class PoliciesAct(Act):
    """A change of the policies that makes a check looser."""

    name = "policies"
    label = _("Looser policies")
    may_ask = may_approve = Right.CHANGE_POLICIES

    def content_now(self, approval: Approval) -> Content:
        """The present and the new values of the policies that it changes, under a lock."""
        lock_policies()
        return self._content(approval)

    def content_seen(self, approval: Approval, seen: Seen) -> Content:
        """The same, without a lock."""
        return self._content(approval)

    def _content(self, approval: Approval) -> Content:
        after: dict[str, Any] = approval.facts["after"]
        return {"before": values_of(saved_policies(), after), "after": after}

    def execute(self, approval: Approval, *, approver: User) -> str:
        change_policies(approval.facts["after"], actor=approval.asked_by, approved_by=approver)
        return "policies"

    def lines(self, content: Content) -> list[Line]:
        """Each policy with its present and its new value."""
        before, after = content["before"], content["after"]
        return [
            Line(
                name,
                WORDS[name].label,
                f"{value_in_words(name, before[name])} → {value_in_words(name, after[name])}",
            )
            for name in after
        ]

    def about(self, approval: Approval) -> str:
        return ", ".join(str(WORDS[name].label) for name in approval.facts["after"])

    def url(self, approval: Approval) -> str:
        return reverse("policies")
