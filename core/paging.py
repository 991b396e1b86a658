"""Keyset paging: stays fast and steady however long the table grows, because nothing is counted or skipped over."""

import datetime as dt
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.core.paginator import Paginator
from django.db.models import Model, Q, QuerySet
from django.http import QueryDict
from django.utils.functional import cached_property

from core.search import count_up_to

M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class KeysetPage(Generic[M]):
    """One page, newest first. `newer` and `older` are cursors for the neighbouring pages, or empty.

    `kept`: the filters of the address, for the links to those pages. `is_rising`: the oldest comes first, and
    `older` is the cursor of the page before.
    """

    rows: list[M]
    newer: str
    older: str
    kept: QueryDict
    is_rising: bool = False


def kept_filters(query: QueryDict) -> QueryDict:
    """The parameters of an address that are filled in, without those that name a page or the last line."""
    kept = query.copy()
    for name in [name for name in kept if name in {"older", "newer", "page", "line"} or not kept[name]]:
        del kept[name]
    return kept


def keyset_page(
    rows: QuerySet[M],
    query: QueryDict,
    *,
    time_field: str = "created_at",
    size: int = 50,
    shown: QuerySet[M] | None = None,
    is_rising: bool = False,
) -> KeysetPage[M]:
    """The page of `rows` that `query` (`older=CURSOR` or `newer=CURSOR`) names, newest first by `time_field` and pk.

    An invalid cursor names the first page. `shown`: reads the rows with all that is shown (see `chosen_first`).
    `is_rising`: the oldest first.
    """
    upwards = "newer" in query
    cursor = _read(query.get("newer" if upwards else "older", ""))
    upwards = upwards if cursor else is_rising
    if cursor:
        at, pk = cursor
        side = "gt" if upwards else "lt"
        # The first condition alone bounds the index scan; the second breaks ties.
        rows = rows.filter(
            Q(**{f"{time_field}__{side}e": at}) & (Q(**{f"{time_field}__{side}": at}) | Q(**{f"pk__{side}": pk}))
        )
    order = (time_field, "pk") if upwards else (f"-{time_field}", "-pk")
    page = rows.order_by(*order)[: size + 1]
    shown_rows = list(page if shown is None else chosen_first(page, shown))
    has_more, shown_rows = len(shown_rows) > size, shown_rows[:size]
    if upwards != is_rising:
        shown_rows.reverse()
    if not shown_rows:
        return KeysetPage(rows=[], newer="", older="", kept=kept_filters(query), is_rising=is_rising)
    newest, oldest = (shown_rows[-1], shown_rows[0]) if is_rising else (shown_rows[0], shown_rows[-1])
    has_newer, has_older = (has_more, cursor is not None) if upwards else (cursor is not None, has_more)
    return KeysetPage(
        rows=shown_rows,
        newer=_write(newest, time_field) if has_newer else "",
        older=_write(oldest, time_field) if has_older else "",
        kept=kept_filters(query),
        is_rising=is_rising,
    )


def chosen_first(page: QuerySet[M], shown: QuerySet[M]) -> QuerySet[M]:
    """The rows of `page` (ordered and sliced) as `shown` reads them, with everything that it joins or annotates.

    The page is chosen first, because PostgreSQL may expect few rows, find thousands, and join all of them.
    """
    return shown.filter(pk__in=page.values("pk")).order_by(*page.query.order_by)


def _write(row: Any, time_field: str) -> str:
    at: dt.datetime = getattr(row, time_field)
    return f"{at.astimezone(dt.UTC).strftime('%Y%m%dT%H%M%S.%f')}-{row.pk}"


def _read(cursor: str) -> tuple[dt.datetime, int] | None:
    at, _dash, pk = cursor.rpartition("-")
    try:
        moment, number = dt.datetime.strptime(at, "%Y%m%dT%H%M%S.%f").replace(tzinfo=dt.UTC), int(pk)
    except ValueError:
        return None
    return (moment, number) if 0 < number < 2**63 else None


class FirstPages(Paginator):  # type: ignore[type-arg]
    """Numbered pages of the first `MOST` rows: a search finds the rest, and nothing counts it."""

    MOST = 10_000

    @cached_property
    def count(self) -> int:
        """The number of rows that the pages show."""
        rows: QuerySet[Any] = self.object_list  # type: ignore[assignment] # never a list
        return min(count_up_to(rows, self.MOST), self.MOST)
