"""The balance over time as a drawing: the positions of its points. The template makes it an SVG, without a script."""

import datetime as dt
import math
from dataclasses import dataclass

from ledger.services import DayClosing

# The drawing's own units; the page stretches it to its width.
WIDTH, HEIGHT = 1000, 240
STEPS = 4
# The highest tick of a drawing in which everything is zero, in rupiah.
_EMPTY_TOP = 100_000


@dataclass(frozen=True)
class Point:
    """A day in the drawing: the middle of its column, its height, and the column for the tooltip."""

    day: dt.date
    balance: int
    x: float
    y: float
    left: float
    width: float


@dataclass(frozen=True)
class Chart:
    """A curve with its scale: `ticks` are rupiah from top to bottom, evenly spaced."""

    points: list[Point]
    ticks: list[int]

    @property
    def line(self) -> str:
        """The curve as an SVG path."""
        return "M" + " L".join(f"{point.x:.1f},{point.y:.1f}" for point in self.points)

    @property
    def area(self) -> str:
        """The area under the curve, as an SVG path."""
        return f"{self.line} L{self.points[-1].x:.1f},{HEIGHT} L{self.points[0].x:.1f},{HEIGHT} Z"

    @property
    def grid(self) -> list[float]:
        """The heights of the ticks' lines."""
        return [number * HEIGHT / (len(self.ticks) - 1) for number in range(len(self.ticks))]

    @property
    def lowest(self) -> Point:
        """The day that ended with the least."""
        return min(self.points, key=lambda point: point.balance)

    @property
    def highest(self) -> Point:
        """The day that ended with the most."""
        return max(self.points, key=lambda point: point.balance)


def chart_of(curve: list[DayClosing]) -> Chart | None:
    """The drawing of these days; None for fewer than two, which make no curve."""
    if len(curve) < 2:
        return None
    floor, step = scale([day.closing for day in curve])
    column = WIDTH / len(curve)
    points = [
        Point(
            day=day.day,
            balance=day.closing,
            x=(number + 0.5) * column,
            y=HEIGHT - (day.closing - floor) / (step * STEPS) * HEIGHT,
            left=number * column,
            width=column,
        )
        for number, day in enumerate(curve)
    ]
    return Chart(points=points, ticks=[floor + step * number for number in range(STEPS, -1, -1)])


def scale(balances: list[int]) -> tuple[int, int]:
    """The lowest tick and the distance of the ticks: round numbers, from zero unless that would flatten the curve."""
    low, high = min(balances), max(balances)
    high = high if low or high else _EMPTY_TOP
    floor = 0 if 0 <= low < high * 0.6 else low
    size = 10 ** int(math.log10(max(1, (high - floor) / STEPS)))
    while True:
        for step in (size, 2 * size, 5 * size // 2, 5 * size):
            bottom = floor // step * step
            if bottom + step * STEPS >= high:
                return bottom, step
        size *= 10
