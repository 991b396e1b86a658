"""The drawing of sales: bars of a period by hour, day or week, and a line of the time before; the same as a table."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from babel.dates import format_date
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy, ngettext, pgettext_lazy

from core.money import rupiah
from core.times import active_locale, day_words
from earnings.periods import Chosen
from earnings.services import Figures, Period, sales_by_hour, totals_of
from ledger.chart import HEIGHT, STEPS, WIDTH, scale

_HOURS, _WEEK = 24, 7
# The labels below a drawing: each third hour; each of up to this many steps, else the first, the middle and the last.
_LABELLED, _MOST_LABELS = 3, 8
# With more days than this a bar is a week: bars of days would be too thin to point at.
_MOST_DAYS = 92
_TITLES = {
    "hour": gettext_lazy("Sales per hour"),
    "day": gettext_lazy("Sales per day"),
    "week": gettext_lazy("Sales per week"),
}
_STEPS = {
    "hour": pgettext_lazy("step", "Hour"),
    "day": gettext_lazy("Day"),
    "week": pgettext_lazy("step", "Week"),
}


class Step(NamedTuple):
    """One hour, day or week of a period: its words, a short `label`, and its sales."""

    words: str
    label: str
    figures: Figures


@dataclass(frozen=True)
class Bar:
    """A step of the period and the step at the same place in the time before; None after the end of either.

    It has its bar and its column in the drawing.
    """

    now: Step | None
    before: Step | None
    left: float
    width: float
    column: float
    y: float
    height: float

    @property
    def words(self) -> str:
        """Its text: for the period, else for the time before."""
        if self.now:
            sold = self.now.figures.sold
            count = ngettext("%(n)s order", "%(n)s orders", sold) % {"n": sold}
            return f"{self.now.words}: {rupiah(self.now.figures.sales)}, {count}"
        if self.before:
            figure = f"{self.before.words}: {rupiah(self.before.figures.sales)}"
            return _("before: %(figure)s") % {"figure": figure}
        return ""


@dataclass(frozen=True)
class Drawing:
    """Sales as bars; the time before as a line. `ticks`: rupiah, top down. `by`: "hour", "day" or "week"."""

    by: str
    bars: list[Bar]
    line: str
    ticks: list[int]
    labels: list[str]

    @property
    def title(self) -> str | Promise:
        """The title of the drawing."""
        return _TITLES[self.by]

    @property
    def step(self) -> str | Promise:
        """The words for the unit of a bar."""
        return _STEPS[self.by]

    def reached(self, period: Period) -> list[Figures]:
        """The figures of the period's steps, up to now."""
        figures = [bar.now.figures for bar in self.bars if bar.now]
        last = timezone.localtime(period.until - dt.timedelta(microseconds=1)).hour
        return figures[: last + 1] if self.by == "hour" else figures

    @property
    def has_each(self) -> bool:
        """Whether each label is below its step, in columns of equal width."""
        return self.by == "hour" or len(self.labels) == len(self.bars)

    @property
    def grid(self) -> list[float]:
        """The heights of the ticks' lines."""
        return [number * HEIGHT / STEPS for number in range(STEPS + 1)]


def step_of(chosen: Chosen) -> str:
    """The unit in which its figures are read: "hour" for one day, else "day", also for a drawing by week."""
    return "hour" if _longest(chosen) == 1 else "day"


def drawing_of(chosen: Chosen, steps: Sequence[Mapping[Any, Figures]]) -> Drawing:
    """The drawing of a period: of one day by hour, else by day, of a long one by week.

    The time before begins at the same place, and may be shorter or longer; a single earlier day counts to its end.
    `steps`: those of the report (`Report.steps`).
    """
    if step_of(chosen) == "hour":
        whole = Period.of_days(chosen.before.first, chosen.before.last)
        return _drawn("hour", _hours_of(steps[0]), _hours_of(sales_by_hour(whole)))
    length = 1 if _longest(chosen) <= _MOST_DAYS else _WEEK
    by = "day" if length == 1 else "week"
    now, before = (
        _days_of(period, length, figures) for period, figures in zip((chosen.period, chosen.before), steps, strict=True)
    )
    return _drawn(by, now, before)


def _longest(chosen: Chosen) -> int:
    return max(_days_in(chosen.period), _days_in(chosen.before))


def _days_in(period: Period) -> int:
    return (period.last - period.first).days + 1


def _hours_of(figures: Mapping[int, Figures]) -> list[Step]:
    return [Step(f"{hour:02d}:00", f"{hour:02d}", figures.get(hour, Figures())) for hour in range(_HOURS)]


def _days_of(period: Period, length: int, figures: Mapping[dt.date, Figures]) -> list[Step]:
    """Steps of `length` days each; the last one may have fewer."""
    days = [period.first + dt.timedelta(number) for number in range(_days_in(period))]
    steps = [days[first : first + length] for first in range(0, len(days), length)]
    pattern = "EEE d" if len(steps) <= _MOST_LABELS else "d MMM"
    return [
        Step(
            _days_words(step),
            format_date(step[0], pattern, locale=active_locale()),
            totals_of(figures.get(day, Figures()) for day in step),
        )
        for step in steps
    ]


def _days_words(days: Sequence[dt.date]) -> str:
    first, last = day_words(days[0]), day_words(days[-1])
    return first if first == last else f"{first} – {last}"


def _drawn(by: str, now: list[Step], before: list[Step]) -> Drawing:
    _floor, tick = scale([0, *(step.figures.sales for step in (*now, *before))])
    pairs = [*zip_longest(now, before)]
    top, column = tick * STEPS, WIDTH / len(pairs)

    def y_of(step: Step | None) -> float:
        return HEIGHT - (step.figures.sales if step else 0) / top * HEIGHT

    bars = [
        Bar(
            now=own,
            before=earlier,
            left=(number + 0.15) * column,
            width=column * 0.7,
            column=number * column,
            y=y_of(own),
            height=HEIGHT - y_of(own),
        )
        for number, (own, earlier) in enumerate(pairs)
    ]
    points = (f"{(number + 0.5) * column:.1f},{y_of(step):.1f}" for number, step in enumerate(before))
    labels = [(own or earlier).label for own, earlier in pairs]
    if by == "hour":
        labels = labels[::_LABELLED]
    elif len(labels) > _MOST_LABELS:
        labels = [labels[at] for at in (0, len(labels) // 2, len(labels) - 1)]
    return Drawing(by, bars, "M" + " L".join(points), [tick * number for number in range(STEPS, -1, -1)], labels)
