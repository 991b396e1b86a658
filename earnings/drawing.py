"""The drawing of sales: bars of a period by hour, day or week, and a line of the period before."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy, ngettext

from core.money import rupiah
from core.times import day_words
from earnings.periods import Chosen
from earnings.services import Figures, Period, figures_by, sales_by_hour, totals_of
from ledger.chart import HEIGHT, STEPS, WIDTH, scale

_HOURS, _WEEK = 24, 7
# Above so many days a bar is a week: bars of days would be too thin to point at.
_MOST_DAYS = 92
_TITLES = {
    "hour": gettext_lazy("Sales per hour"),
    "day": gettext_lazy("Sales per day"),
    "week": gettext_lazy("Sales per week"),
}


@dataclass(frozen=True)
class Bar:
    """One hour, day or week in the drawing: its bar, its column, and its text."""

    left: float
    width: float
    column: float
    y: float
    height: float
    words: str


@dataclass(frozen=True)
class Drawing:
    """Sales as bars; the earlier period as a line. `ticks`: rupiah, top down. `by`: "hour", "day" or "week"."""

    by: str
    bars: list[Bar]
    line: str
    ticks: list[int]
    labels: list[str]

    @property
    def title(self) -> str | Promise:
        """What it shows."""
        return _TITLES[self.by]

    @property
    def grid(self) -> list[float]:
        """The heights of the ticks' lines."""
        return [number * HEIGHT / STEPS for number in range(STEPS + 1)]


def drawing_of(chosen: Chosen) -> Drawing:
    """The drawing of a period: of one day by hour, else by day, of a long one by week.

    The earlier day counts to its end.
    """
    period, before = chosen.period, chosen.before
    count = (period.last - period.first).days + 1
    if count == 1:
        labels = [f"{hour:02d}:00" for hour in range(_HOURS)]
        whole = Period.of_days(before.first, before.last)
        sales, earlier = (_in_steps(sales_by_hour(part), range(_HOURS), 1) for part in (period, whole))
        return _drawn("hour", labels, sales, earlier)
    length = 1 if count <= _MOST_DAYS else _WEEK
    sales, earlier = (
        _in_steps(figures_by("day", part), [part.first + dt.timedelta(number) for number in range(count)], length)
        for part in (period, before)
    )
    firsts = [period.first + dt.timedelta(number) for number in range(0, count, length)]
    lasts = [min(first + dt.timedelta(length - 1), period.last) for first in firsts]
    labels = [
        day_words(first) if first == last else f"{day_words(first)} – {day_words(last)}"
        for first, last in zip(firsts, lasts, strict=True)
    ]
    return _drawn("day" if length == 1 else "week", labels, sales, earlier)


def _in_steps(figures: Mapping[Any, Figures], keys: Sequence[Any], length: int) -> list[Figures]:
    """The figures of so many neighbouring keys at a time."""
    each = [figures.get(key, Figures()) for key in keys]
    return [totals_of(each[first : first + length]) for first in range(0, len(each), length)]


def _drawn(by: str, steps: list[str], sales: list[Figures], earlier: list[Figures]) -> Drawing:
    _floor, tick = scale([0, *(figures.sales for figures in (*sales, *earlier))])
    top, column = tick * STEPS, WIDTH / len(steps)

    def y_of(amount: int) -> float:
        return HEIGHT - amount / top * HEIGHT

    bars = [
        Bar(
            left=(number + 0.15) * column,
            width=column * 0.7,
            column=number * column,
            y=y_of(figures.sales),
            height=HEIGHT - y_of(figures.sales),
            words=_bar_words(words, figures),
        )
        for number, (words, figures) in enumerate(zip(steps, sales, strict=True))
    ]
    points = (f"{(number + 0.5) * column:.1f},{y_of(figures.sales):.1f}" for number, figures in enumerate(earlier))
    labels = [steps[at] for at in sorted({0, len(steps) // 2, len(steps) - 1})]
    return Drawing(by, bars, "M" + " L".join(points), [tick * number for number in range(STEPS, -1, -1)], labels)


def _bar_words(words: str, figures: Figures) -> str:
    count = ngettext("%(n)s order", "%(n)s orders", figures.sold) % {"n": figures.sold}
    return f"{words}: {rupiah(figures.sales)}, {count}"
