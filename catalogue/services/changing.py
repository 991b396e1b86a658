"""The change of a price rule: the rule and every product's new price, in one transaction."""

import structlog
from django.db import transaction
from django.utils import timezone

from audit.services import record
from catalogue.errors import NeedsSecondPerson, RuleRefused
from catalogue.events import PRICE_RULE_CHANGED
from catalogue.models import PriceRule
from catalogue.services.effects import Preview, preview
from catalogue.services.pricing import lock_prices, reprice
from catalogue.services.rules import own_rules
from catalogue.services.targets import Target
from catalogue.services.terms import AsNow, Terms
from staff.models import User

log = structlog.get_logger()


def change_rule(
    target: Target,
    terms: Terms | AsNow | None,
    *,
    actor: User,
    seen: str | None = None,
    approved_by: User | None = None,
) -> Preview:
    """Give the target these terms (None ends its rules), and every product its new price, in one transaction; return
    what changed.

    `seen`: the `hash` of the confirmed preview. Raises `RuleRefused` when nothing would change or the effect is another
    one now, `NeedsSecondPerson` when something would sell below cost and nobody has approved it.
    """
    with transaction.atomic():
        change = _lock_change(target, terms, seen=seen)
        if change.below_cost and approved_by is None:
            raise NeedsSecondPerson(change.content)
        _write(change)
        reprice()
        facts = {name: change.content[name] for name in ("affected", "below_cost", "largest_loss")}
        record(
            PRICE_RULE_CHANGED,
            actor=actor,
            subject=target.name or target.key,
            before={"target": target.key, "terms": change.content["before"]},
            after={"target": target.key, "terms": change.content["after"]},
            facts=facts | {"approved_by": approved_by.pk if approved_by else None},
        )
    log.info("price_rule_changed", by=actor.pk, target=target.key, affected=change.affected)
    return change


def refuse_rule(target: Target, terms: Terms | AsNow | None, *, seen: str, reason: str) -> None:
    """Raise `RuleRefused` if `change_rule` would refuse this, or a second person is needed and there is no reason.

    Nothing changes.
    """
    with transaction.atomic():
        if _lock_change(target, terms, seen=seen).below_cost and not reason.strip():
            raise RuleRefused("no_reason")


def _lock_change(target: Target, terms: Terms | AsNow | None, *, seen: str | None) -> Preview:
    lock_prices()
    change = preview(target, terms)
    if change.is_same:
        raise RuleRefused("same")
    if seen not in {None, change.hash}:
        raise RuleRefused("moved")
    return change


def _write(change: Preview) -> None:
    now, rules = timezone.now(), own_rules(change.target, is_locked=True)
    for part, own, terms in zip(change.target.parts, rules, change.after, strict=True):
        if Terms.of(own) == terms:
            continue
        if own is None and any(part.keys):
            # one from before the provider changed the type
            former = PriceRule.objects.filter(**part.of_rule, ended_at=None).exclude(type=part.type)
            former.update(ended_at=now, changed_at=now)
        rule = own or PriceRule(type=part.type, **part.of_rule, created_at=now)
        rule.changed_at = now
        if terms is None:
            rule.ended_at = now
        else:
            rule.kind, rule.value, rule.round_to = terms.kind, terms.value, terms.round_to
            rule.at_least = terms.at_least or None
        rule.save()
