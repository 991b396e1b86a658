"""The terms of a price rule, and their words."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from django.utils.translation import gettext, pgettext

from catalogue.models import PriceRule, PriceRuleKind
from core.money import rupiah


@dataclass(frozen=True)
class Terms:
    """The way in which a rule makes the price. `value`: rupiah, or hundredths of a percent.

    `at_least`: rupiah that a percentage adds at least, before the price is rounded up.
    """

    kind: str
    value: int
    round_to: int = 1
    at_least: int = 0

    @classmethod
    def of(cls, rule: PriceRule | None) -> Terms | None:
        """The terms of this rule; None without one."""
        return cls(rule.kind, rule.value, rule.round_to, rule.at_least or 0) if rule else None


@dataclass(frozen=True)
class AsNow:
    """The present terms of each part, but at least this many rupiah on top of the cost: no price falls."""

    at_least: int

    def instead_of(self, held: Terms | None) -> Terms:
        """The terms that replace the present ones (None: the product sells at cost). A fixed price stays."""
        if held is None:
            return Terms(PriceRuleKind.PLUS, self.at_least)
        match held.kind:
            case PriceRuleKind.PERCENT:
                return replace(held, at_least=max(held.at_least, self.at_least))
            case PriceRuleKind.PLUS:
                return replace(held, value=max(held.value, self.at_least))
            case _:
                return held


def facts_of(terms: Terms | None) -> dict[str, Any] | None:
    """The terms in JSON values; without `at_least` if there is none, like older approvals and events."""
    if terms is None:
        return None
    return {name: value for name, value in asdict(terms).items() if name != "at_least" or value}


def read_terms(facts: dict[str, Any] | None) -> Terms | None:
    """The terms in the facts that `facts_of` made."""
    return Terms(**facts) if facts else None


def terms_words(terms: Terms | AsNow | None) -> str:
    """A rule in a few words, such as "cost + 2,5%, rounded up to Rp500"."""
    if terms is None:
        return gettext("No rule")
    if isinstance(terms, AsNow):
        return gettext("Each as now, but at least %(amount)s") % {"amount": rupiah(terms.at_least)}
    match terms.kind:
        case PriceRuleKind.FIXED:
            words = rupiah(terms.value)
        case PriceRuleKind.PERCENT:
            words = gettext("cost + %(percent)s%%") % {"percent": percent(terms.value)}
            if terms.at_least:
                least = pgettext("price rule", "at least %(amount)s") % {"amount": rupiah(terms.at_least)}
                words = f"{words}, {least}"
        case _:
            words = gettext("+ %(amount)s") % {"amount": rupiah(terms.value)}
    return words if terms.round_to == 1 else f"{words}, {_rounded(terms)}"


def own_words(key: str, terms: Terms | AsNow | None) -> str:
    """The own rule of the target with this key, in words; without one, a wider rule may hold for it."""
    if terms or key.startswith("all:"):
        return terms_words(terms)
    return gettext("No rule of its own")


def each_in_words(rules: list[dict[str, Any]]) -> tuple[str, ...]:
    """The words for the rules of several brands in a `Preview.content`."""
    return tuple(f"{rule['name']}: {own_words(rule['target'], read_terms(rule['terms']))}" for rule in rules)


def facts_words(facts: Any) -> str:
    """The words for a rule, or several, in an approval or an event."""
    if isinstance(facts, list):
        return "; ".join(each_in_words(facts))
    # The activity log shows each of several rules separately.
    return "; ".join(each_in_words([facts])) if facts and "target" in facts else terms_words(read_terms(facts))


def _rounded(terms: Terms) -> str:
    return gettext("rounded up to %(amount)s") % {"amount": rupiah(terms.round_to)}


def percent(hundredths: int) -> str:
    """Hundredths of a percent as a percentage in Indonesian notation: 250 → "2,5"."""
    whole, rest = divmod(hundredths, 100)
    return f"{whole},{rest:02d}".rstrip("0") if rest else str(whole)
