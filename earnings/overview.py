"""The part of earnings on the overview: the figures of a few days, their drawing, and the best sellers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from branches.seeing import names_branches, seen_in
from branches.services import branch_names
from catalogue.rights import sees_cost
from core.periods import Period as Days
from core.rights import Right
from core.snapshot import snapshot
from earnings.drawing import drawing_of, step_of
from earnings.periods import NAMES, Chosen, compared_period, left_out
from earnings.presenting import BY, keys_shown, report_of, tiles_of
from staff.models import User

#: The rights that a person needs to see the part.
SEES = (Right.VIEW_ORDERS, Right.VIEW_SHIFTS)
_OFFERED = (Days.TODAY, Days.YESTERDAY, Days.WEEK, Days.DAYS_7, Days.MONTH)
# The splits of the lines, in this order; the number of shown lines; how many more are shown if these are the last.
_BY, _LINES, _SPARE = ("brand", "product", "person", "customer", "method", "branch"), 6, 4
# The parameters that name a choice in an address. Without any, the part is loaded after the page.
_NAMED = {"days", "since", "until", "against_since", "against_until", "by", "branch"}


class Choice(NamedTuple):
    """One link of a switch. `name` is for scripts and tests; `address`: the part after the question mark."""

    name: str
    words: str | Promise
    address: str
    is_chosen: bool


@dataclass(frozen=True)
class Part:
    """The choice on the overview. `is_named`: made by the address, not by default.

    `left_out`: the parts of the address that were not understood.
    """

    chosen: Chosen
    by: str
    person: User
    is_named: bool
    left_out: list[str]

    @classmethod
    def of(cls, params: Mapping[str, str], person: User) -> Part:
        """The choice of the address for this person; reads no orders."""
        chosen = compared_period(params)
        with seen_in(chosen.branch):
            keys = keys_shown(person)
        by = params.get("by", "")
        by = by if by in keys and by in _BY else _BY[0]
        return cls(chosen, by, person, bool(_NAMED.intersection(params)), left_out(params, chosen, by))

    @property
    def address(self) -> str:
        """The part of the address after the question mark, here and on the page of earnings."""
        return _address(self.chosen, self.by)

    @property
    def of_branch(self) -> str:
        """The branch for an address of another page, after its first filter; empty for all."""
        branch = urlencode(self.chosen.of_branch)
        return branch and f"&{branch}"

    @cached_property
    def periods(self) -> list[Choice]:
        """The days that a click chooses."""
        usual = replace(self.chosen, is_against_own=False)
        return [
            Choice(days, NAMES[days], _address(replace(usual, name=days), self.by), days == self.chosen.name)
            for days in _OFFERED
        ]

    @cached_property
    def branches(self) -> list[Choice]:
        """The branches that a click chooses; none for a person who sees only one."""
        if not names_branches():
            return []
        names: list[tuple[int | None, str | Promise]] = [(None, _("Every branch")), *branch_names()]
        chosen = [replace(self.chosen, branch=key) for key, _words in names]
        return [
            Choice(str(each.branch or ""), words, _address(each, self.by), each == self.chosen)
            for each, (_key, words) in zip(chosen, names, strict=True)
        ]

    def figures(self) -> dict[str, Any]:
        """The tiles, the drawing and the lines, all of one moment."""
        chosen, with_cost = self.chosen, sees_cost(self.person)
        with snapshot(), seen_in(chosen.branch):
            keys = [key for key in _BY if key in keys_shown(self.person)]
            report = report_of(chosen, self.by, step=step_of(chosen), most=_LINES, spare=_SPARE, reader=self.person)
            drawing = drawing_of(chosen, report.steps)
        return {
            "report": report,
            "tiles": tiles_of(report.now, report.before, with_cost=with_cost, steps=drawing.reached(chosen.period)),
            "drawing": drawing,
            "with_cost": with_cost,
            "keys": [Choice(key, BY[key], _address(chosen, key), key == self.by) for key in keys],
        }


def _address(chosen: Chosen, by: str) -> str:
    return f"{chosen.address}&{urlencode({'by': by})}"
