"""Pages of several rooms that belong together, as tabs on each of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from core.rights import Right


@dataclass(frozen=True)
class Page:
    """A page of a section: the name of its address, its words, its right; `also`: the name of a page below it.

    `has_cost`: it takes the right to see the cost, too.
    """

    name: str
    words: str | Promise
    right: str
    also: str = ""
    has_cost: bool = False


@dataclass(frozen=True)
class Tab:
    """A page that this person may open."""

    url: str
    name: str
    words: str | Promise
    is_here: bool


@dataclass(frozen=True)
class Section:
    """The tabs of the page shown; at least two."""

    words: str | Promise
    tabs: list[Tab]


SECTIONS: tuple[tuple[str | Promise, tuple[Page, ...]], ...] = (
    (
        _("Balance"),
        (
            Page("balance", _("Now"), Right.VIEW_BOOKS, has_cost=True),
            Page("statement", _("Statement"), Right.VIEW_STATEMENT, has_cost=True),
            Page("closing_today", _("Balance by day"), Right.VIEW_STATEMENT, also="closing", has_cost=True),
            Page("difference_list", _("Differences"), Right.VIEW_DIFFERENCES, also="run_list"),
            Page("alert_list", _("Alerts"), Right.VIEW_ALERTS, also="alert_ways"),
        ),
    ),
    (
        pgettext_lazy("place", "Evidence"),
        (
            Page("exchange_list", _("Exchanges"), Right.VIEW_EXCHANGES),
            Page("error_list", _("Errors"), Right.VIEW_EXCHANGES),
            Page("callback_list", _("Callbacks"), Right.VIEW_CALLBACKS),
            Page("audit_list", _("Activity log"), Right.VIEW_AUDIT),
        ),
    ),
    (
        _("Staff"),
        (
            Page("staff_list", _("People"), Right.MANAGE_STAFF),
            Page("role_list", _("Roles"), Right.CHANGE_ROLES),
        ),
    ),
    (
        _("Shop"),
        (
            Page("shop_settings", _("Receipts"), Right.CHANGE_SHOP),
            Page("policies", _("Policies"), Right.CHANGE_POLICIES),
            Page("health", _("Health"), Right.CHANGE_POLICIES),
            Page("backups", _("Backups"), Right.CHANGE_POLICIES),
        ),
    ),
)


def section_of(request: HttpRequest) -> Section | None:
    """The section of the page shown; None without one, or if the person may open only one of its pages."""
    here = request.resolver_match.url_name if request.resolver_match else None
    for words, pages in SECTIONS:
        if any(here in {page.name, page.also or page.name} for page in pages):
            tabs = [*_tabs(pages, here, request.user.has_perm)]
            return Section(words, tabs) if len(tabs) > 1 else None
    return None


def _tabs(pages: tuple[Page, ...], here: str | None, may: Callable[[str], bool]) -> Iterator[Tab]:
    for page in pages:
        if may(page.right) and (may(Right.VIEW_COST) or not page.has_cost):
            yield Tab(reverse(page.name), page.name, page.words, here in {page.name, page.also or page.name})
