"""A kind of result: its words, the rights that show it, and its results for a text."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.utils.functional import Promise

from core.rights import Right
from find.kinds.asked import Asked
from staff.models import User


@dataclass(frozen=True, kw_only=True)
class Result:
    """A line that leads to a page. `more` stands beside its words; `colour`: as `status-…` in the style sheets.

    `key`: the letter that opens it. `is_far`: an unlikely result, which every other one replaces. `is_list`: the list
    of all results, shown with the first of them. `is_meant`: the text means only this; its kind comes before all
    others. `is_empty`: it leads to an empty list; its kind comes after all others.
    """

    url: str
    words: str
    icon: str
    more: str = ""
    colour: str = ""
    key: str = ""
    is_far: bool = False
    is_list: bool = False
    is_meant: bool = False
    is_empty: bool = False


@dataclass(frozen=True)
class Kind:
    """One kind. `name` is for addresses, scripts and tests. `rights`: the person needs every one of them.

    `list_name`: the address of the list that finds more; the same rights open it. `list_query`: further filters of it.
    """

    name: str
    words: str | Promise
    rights: tuple[Right, ...]
    results: Callable[[Asked], Iterable[Result]]
    list_name: str = ""
    list_query: str = ""

    def may_be_seen_by(self, person: User) -> bool:
        """Whether this person may see any of it."""
        return person.has_perms(self.rights)
