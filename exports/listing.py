"""A list that people work with: one definition gives its filter, columns, foot, saved views and files.

`ROOM/lists.py` defines those of the room; `list_views.addresses` are their addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Aggregate, QuerySet
from django.http import HttpResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from core.access import StaffRequest
from core.filters import ListFilter
from core.numbers import may_take_whole
from core.paging import kept_filters
from core.parts import discover
from core.rights import Right
from core.search import sum_up
from core.tables import Column, Table
from exports.formats import Fields
from exports.lists import LIST_FILTERS, LIST_WORDS, ListFile
from exports.models import Export
from exports.presenting import NO_FACTS, in_words, query_words
from exports.services import columns_of, holds_other_branches, missing_rights
from staff.models import User

_LISTINGS: dict[str, Listing] = {}
_PARTS = ("list", "file", "about", "columns", "views", "view_save", "sums")


@dataclass(frozen=True)
class Listing:
    """`name` is the key of its views and begins its files; `page` begins the names of its addresses: `order_list`.

    `rights`: those that its readers need; `file_rights`: those that makers of files need in addition. `find`: the
    filter of an address, for a person; `for_file`: its rows with everything that a file holds. `foot`: the context of
    `foot_template`, for a person. `views`: the views of everybody, as words and filters.
    """

    name: str
    page: str
    words: Any
    template: str
    rights: tuple[Right, ...]
    table: type[Table[Any]]
    find: Callable[[QueryDict, User], ListFilter]
    for_file: Callable[[Any], QuerySet[Any]]
    foot: Callable[[ListFilter, User], dict[str, Any]]
    foot_template: str = "exports/list_foot.html"
    file_rights: tuple[Right, ...] = ()
    views: tuple[tuple[Any, str], ...] = ()

    def __post_init__(self) -> None:
        _LISTINGS[self.name] = self

    def found(self, request: StaffRequest) -> ListFilter:
        """The filter of this address."""
        return self.find(request.GET, request.user)

    def columns(self, query: QueryDict, person: User) -> str:
        """The names of the columns to show, with a comma between them; empty for all usual ones.

        The columns are those of the address, else those that the person keeps, else the usual ones that the person may
        see.
        """
        allowed = {column.name for column in self._allowed(person)}
        chosen = self._chosen(query, person, allowed)
        usual = [column.name for column in self.table.columns]
        return chosen or ("" if allowed.issuperset(usual) else ",".join(name for name in usual if name in allowed))

    def _chosen(self, query: QueryDict, person: User, allowed: set[str]) -> str:
        names = query.get("columns", "") if "columns" in query else columns_of(person, self.name)
        chosen = dict.fromkeys(name for name in names.split(",") if name in allowed)
        staying = [column.name for column in self.table.every_column if column.stays and column.name not in chosen]
        return ",".join([*staying, *chosen]) if chosen else ""

    def _allowed(self, person: User) -> list[Column]:
        return [
            column
            for column in self.table.every_column
            if column.when() and (not column.right or person.has_perm(column.right))
        ]

    def fields(self, query: QueryDict, person: User, *, whole: bool = False) -> Fields:
        """The fields of a file of this address for this person. `whole`: with customers' full numbers."""
        allowed = self._allowed(person)
        fields = self.table.file_fields(self._chosen(query, person, {column.name for column in allowed}), whole=whole)
        hidden = {field for column in self.table.every_column if column not in allowed for field in column.fields}
        return {name: value for name, value in fields.items() if name not in hidden}

    def file_readers(self, names: Iterable[str]) -> tuple[Right, ...]:
        """The rights that the reader of a file with the fields of these names needs."""
        held = set(names)
        of_columns = [column.right for column in self.table.every_column if column.right and held & {*column.fields}]
        return tuple(dict.fromkeys([*self.rights, *self.file_rights, *of_columns]))

    def file(self, request: StaffRequest) -> ListFile:
        """The maker of a file of this address. The worker replaces `rights` by those of the columns that it writes."""
        return ListFile(
            name=self.name,
            task="exports.tasks.write_list",
            rights=self.file_readers(self.table.export),
            fields=self.fields(request.GET, request.user),
            whole_fields=self.fields(request.GET, request.user, whole=True) if self.table.export_whole else None,
            table=self.table,
            show=self.show,
            for_file=self.for_file,
        )

    def show(self, request: StaffRequest, context: dict[str, Any], status: int = 200) -> HttpResponse:
        """The list's page. `context` has the `filter`, and `table` and `page` or the text in place of them."""
        user, table = request.user, context.get("table")
        context |= {
            "listing": self,
            "at": {part: reverse(f"{self.page}_{part}") for part in _PARTS},
            "kept": kept_filters(request.GET),
            "may_file": not user.by_pin and user.has_perms(self.file_rights),
        }
        if table is not None:
            left_out = [column for column in self._allowed(user) if column not in table.columns]
            context["columns"] = [(column, column in table.columns) for column in [*table.columns, *left_out]]
        if self.table.export_whole and may_take_whole(user):
            context["whole_file"] = reverse(f"{self.page}_file_whole")
        return render(request, self.template, context, status=status)


def listing_named(name: str) -> Listing:
    """The list with this name, with which its files begin."""
    discover("lists")
    return _LISTINGS[name]


def file_words(export: Export) -> str:
    """The words for a file: its list, its days, and its other filters as on the list's page."""
    discover("lists")
    listing = _LISTINGS.get(export.list_name)
    words = str(listing.words) if listing else str(LIST_WORDS.get(export.list_name, export.list_name))
    return ", ".join(filter(None, [words, filter_words(export.list_name, export.query, export.owner)]))


def closed_words(export: Export) -> str:
    """Why the owner of the file may no longer open it, and what to do; empty if the owner may."""
    missing, person, listing = missing_rights(export), export.owner, known_listing(export.list_name)
    if not missing:
        is_wide = holds_other_branches(export)
        return _("It holds the sales of every branch, and you now see one. Make a new file.") if is_wide else ""
    rights = ", ".join(f"“{right.label}”" for right in missing)
    if listing and person.has_perms(listing.file_readers(())):
        words = _("You may no longer open it. Missing: %(rights)s. Make a new file: it has only what you may see.")
    else:
        words = _("You may no longer open it. Missing: %(rights)s. Ask an admin if you need it.")
    return words % {"rights": rights}


def filter_words(list_name: str, query: str, reader: User) -> str:
    """The filters of a file in the words of the list's page for this reader; unknown ones as in the address."""
    discover("lists")
    listing, values = _LISTINGS.get(list_name), QueryDict(query)
    find = listing.find if listing else LIST_FILTERS.get(list_name)
    if find is None or values.keys() <= NO_FACTS:
        return query_words(query, list_name)
    return in_words(find(values, reader), values)


def known_listing(name: str) -> Listing | None:
    """The list with this name; None for the name of files of another page."""
    discover("lists")
    return _LISTINGS.get(name)


def grouped(count: int) -> str:
    """The count with separated thousands."""
    return number_format(count, force_grouping=True)


@dataclass(frozen=True)
class Fact:
    """One sum of the rows. `shown`: its number for people."""

    words: Any
    sum: Aggregate
    shown: Callable[[int], str] = grouped


def counted(rows_words: Any, *facts: Fact) -> Callable[[ListFilter, User], dict[str, Any]]:
    """The foot of a list (see `Listing`) with the number of rows that match the filter, and these sums.

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
