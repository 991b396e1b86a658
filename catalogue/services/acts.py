"""The act that takes a second person: a price rule by which a product sells below cost."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from approvals import services as approvals
from approvals.acts import Act, Line, Seen, register
from approvals.errors import ApprovalRefused
from approvals.models import Approval, Content
from catalogue.errors import NeedsSecondPerson, RuleRefused
from catalogue.rights import sees_cost
from catalogue.services.changing import change_rule
from catalogue.services.effects import preview
from catalogue.services.pricing import lock_prices
from catalogue.services.targets import Target, name_of_all
from catalogue.services.terms import Terms, each_in_words, own_words, read_terms
from core.money import rupiah
from core.rights import Right
from staff.models import User


def ask_for_rule(need: NeedsSecondPerson, *, actor: User, reason: str) -> Approval:
    """Ask a second person to approve the rule; no price changes until then.

    Raises `RuleRefused` without a reason, `AlreadyAsked` when another change of the same rule waits.
    """
    if not reason.strip():
        raise RuleRefused("no_reason")
    content = need.content
    return approvals.ask(
        PriceRuleAct.name, subject=content["target"], content=content, actor=actor, reason=reason, about=content["name"]
    )


@register
class PriceRuleAct(Act):
    """A price rule by which something sells below cost."""

    name = "price_rule"
    label = _("Selling price below cost")
    may_ask = may_approve = Right.CHANGE_PRICES

    def content_now(self, approval: Approval) -> Content:
        """The effect of the rule at the present costs. Raises `RuleRefused` when its target is gone."""
        lock_prices()
        target, terms = _asked(approval)
        return preview(target, terms).content

    def content_seen(self, approval: Approval, seen: Seen) -> Content:
        """The effect of the rule at the present costs, on its own page; in a list the stored one, without a query.

        Raises the same as `content_now`.
        """
        return preview(*_asked(approval)).content if seen.is_alone else approval.facts

    def execute(self, approval: Approval, *, approver: User) -> str:
        """Change the rule in the asker's name. Raises `RuleRefused` when the rule is the same already."""
        target, terms = _asked(approval)
        change_rule(target, terms, actor=approval.asked_by, approved_by=approver)
        return target.key

    def lines(self, content: Content) -> list[Line]:
        """The target, the rule before and after, and what it costs the shop. Rule and price together tell the cost."""
        return [
            Line("target", _("For"), content["name"] or name_of_all(content["target"])),
            _rule_line("before", _("Rule now"), content["target"], content["before"]),
            _rule_line("after", _("New rule"), content["target"], content["after"]),
            Line("affected", _("Prices that change"), str(content["affected"])),
            Line("below_cost", _("Products below cost"), str(content["below_cost"]), is_cost=True),
            Line("largest_loss", _("Largest loss for one sale"), rupiah(content["largest_loss"]), is_cost=True),
        ]

    def refuse_approver(self, approval: Approval, person: User) -> None:
        """Only people who see costs may approve a rule."""
        if not sees_cost(person):
            raise ApprovalRefused("no_right")

    def url(self, approval: Approval) -> str:
        return reverse("prices")


def _asked(approval: Approval) -> tuple[Target, Terms | None]:
    target = Target.find(approval.facts["target"])
    if target is None:
        raise RuleRefused("gone")
    return target, read_terms(approval.facts["after"])


def _rule_line(name: str, label: Any, key: str, facts: Any) -> Line:
    """A line for a rule, or for the rules of several brands."""
    if isinstance(facts, list):
        words = each_in_words(facts)
        return Line(name, label, "; ".join(words), is_cost=True, several=words)
    return Line(name, label, own_words(key, read_terms(facts)), is_cost=True)
