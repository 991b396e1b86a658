"""The sandbox's time: the real one, or a past one while a demo's first month is made.

Only this process keeps a past time: after a restart the real time counts.
"""

from datetime import UTC, datetime, timedelta, tzinfo

from django.utils import timezone

_shift = timedelta()


class Moved(datetime):
    """The clock that `timezone.now` reads while another time counts."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        """The real time, moved."""
        return datetime.now(tz) + _shift


def is_moved() -> bool:
    """Whether another time than the real one counts."""
    return bool(_shift)


def move(to: datetime | None) -> None:
    """Set the time to this moment, and let it go on from there; None: return to the real time."""
    global _shift  # noqa: PLW0603
    _shift = to - datetime.now(UTC) if to else timedelta()
    # `timezone.now` reads its clock from this name, also where it is the default of a field
    vars(timezone)["datetime"] = Moved if to else datetime
