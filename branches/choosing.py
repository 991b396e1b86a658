"""The branch that an address names (`?branch=KEY`), for pages that are not lists with filters."""

from typing import NamedTuple

from django.http import HttpRequest, QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from branches.seeing import names_branches
from branches.services import branch_names


class BranchLink(NamedTuple):
    """One of the choices: the key of the branch (None for every branch), its words, and the address that chooses it."""

    key: int | None
    words: str | Promise
    url: str
    is_chosen: bool


def chosen_branch(query: QueryDict) -> int | None:
    """The key of the branch; None for all, for an unknown key, and when no page names branches."""
    typed = query.get("branch", "")
    keys = {str(key): key for key, _name in branch_names()} if names_branches() else {}
    return keys.get(typed)


def branch_links(request: HttpRequest) -> list[BranchLink]:
    """The choices of this page, with its other parameters unchanged; none when no page names branches."""
    if not names_branches():
        return []
    chosen, links = chosen_branch(request.GET), []
    every: list[tuple[int | None, str | Promise]] = [(None, _("Every branch")), *branch_names()]
    for key, words in every:
        query = request.GET.copy()
        query.pop("branch", None)
        if key is not None:
            query["branch"] = str(key)
        links.append(BranchLink(key, words, f"?{query.urlencode()}", key == chosen))
    return links
