"""What the foot of a list says: how many rows there are, and what they come to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Aggregate
from django.utils.formats import number_format

from core.filters import ListFilter
from core.search import sum_up
from staff.models import User


def grouped(count: int) -> str:
    """The count with its thousands set apart."""
    return number_format(count, force_grouping=True)


@dataclass(frozen=True)
class Fact:
    """One sum of the rows. `shown`: its number for people."""

    words: Any
    sum: Aggregate
    shown: Callable[[int], str] = grouped


def counted(rows_words: Any, *facts: Fact) -> Callable[[ListFilter, User], dict[str, Any]]:
    """The foot of a list (see `Listing`) that says how many rows the filter leaves, and these sums of them.

    `rows_words`: of `ngettext_lazy`, for the number `n` that is shown as `%(shown)s`.
    """

    def foot(filtered: ListFilter, _person: User) -> dict[str, Any]:
        asked = {f"sum_{place}": fact.sum for place, fact in enumerate(facts)}
        sums, is_exact = sum_up(filtered.qs.order_by("-pk"), **asked)
        shown = [(fact.words, fact.shown(sums[f"sum_{place}"])) for place, fact in enumerate(facts)]
        count = sums["count"]
        rows_shown = rows_words % {"n": count, "shown": grouped(count)}
        return {"count": count, "rows_shown": rows_shown, "facts": shown, "is_exact": is_exact}

    return foot
