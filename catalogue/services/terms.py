"""The terms of a price rule, and their words."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from django.utils.translation import gettext

from catalogue.models import PriceRule, PriceRuleKind, ProductType
from core.money import rupiah


@dataclass(frozen=True)
class Terms:
    """How a rule makes the price. `value`: rupiah, or hundredths of a percent.

    `at_least`: rupiah that a percentage adds at least, before the price is rounded up.
    """

    kind: str
    value: int
    round_to: int = 1
    at_least: int = 0

    @classmethod
    def of(cls, rule: PriceRule | None) -> Terms | None:
        """Those of this rule; None without one."""
        return cls(rule.kind, rule.value, rule.round_to, rule.at_least or 0) if rule else None

    @property
    def facts(self) -> dict[str, Any]:
        """In JSON values; without `at_least` where there is none, as older approvals and events have it."""
        return {name: value for name, value in asdict(self).items() if name != "at_least" or value}


def name_of_all(key: str) -> str:
    """A target without a name, "all:prepaid" or "all:postpaid", in words."""
    return gettext("Every bill") if key == f"all:{ProductType.POSTPAID}" else gettext("Every product")


def terms_words(terms: Terms | None) -> str:
    """A rule in a few words, such as "cost + 2,5%, rounded up to Rp500"."""
    if terms is None:
        return gettext("No rule")
    match terms.kind:
        case PriceRuleKind.FIXED:
            words = rupiah(terms.value)
        case PriceRuleKind.PERCENT:
            words = gettext("cost + %(percent)s%%") % {"percent": percent(terms.value)}
            if terms.at_least:
                words = f"{words}, {gettext('at least %(amount)s') % {'amount': rupiah(terms.at_least)}}"
        case _:
            words = gettext("+ %(amount)s") % {"amount": rupiah(terms.value)}
    return words if terms.round_to == 1 else f"{words}, {_rounded(terms)}"


def own_words(key: str, terms: Terms | None) -> str:
    """The own rule of the target with this key; without one, a rule of something wider may hold for it."""
    if terms or key.startswith("all:"):
        return terms_words(terms)
    return gettext("No rule of its own")


def _rounded(terms: Terms) -> str:
    return gettext("rounded up to %(amount)s") % {"amount": rupiah(terms.round_to)}


def percent(hundredths: int) -> str:
    """Hundredths of a percent as people here write it: 250 → "2,5"."""
    whole, rest = divmod(hundredths, 100)
    return f"{whole},{rest:02d}".rstrip("0") if rest else str(whole)
