"""What the foot of a list says: how many rows there are, and what they come to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Aggregate, QuerySet

from core.search import sum_up
from staff.models import User


@dataclass(frozen=True)
class Fact:
    """One sum of the rows. `is_money`: in rupiah, else a count."""

    words: Any
    sum: Aggregate
    is_money: bool = False


def counted(*facts: Fact) -> Callable[[QuerySet[Any], User], dict[str, Any]]:
    """The foot of a list (see `Listing`) that says these sums of the filtered rows."""

    def foot(rows: QuerySet[Any], _person: User) -> dict[str, Any]:
        sums, is_exact = sum_up(rows.order_by("-pk"), **{f"sum_{place}": fact.sum for place, fact in enumerate(facts)})
        shown = [(fact, sums[f"sum_{place}"]) for place, fact in enumerate(facts)]
        return {"count": sums["count"], "facts": shown, "is_exact": is_exact}

    return foot
