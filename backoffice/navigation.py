"""The six places, and the pages of each: all of them at the side, and on a phone five tabs at the bottom."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from approvals.services import sees_queue
from bank.presenting import RIGHTS as BANK_RIGHTS
from branches.services import has_several
from core.rights import Right
from staff.models import User
from work.kinds import KINDS
from work.kinds.approvals import Approvals
from work.kinds.complaints import Complaints
from work.kinds.dues import Dues
from work.kinds.refunds import Refunds
from work.services import scope_of

# The fifth tab, "More", has everything else.
_TABS = 4
# The tabs are the first of these that the person may see.
_OF_SELLERS = ("counter", "work", "orders", "drawer", "bills")
_OF_OTHERS = ("today", "work", "records", "money", "sell", "office")

_Test = Callable[[User], bool]


def _holds(*rights: str) -> _Test:
    return lambda person: person.has_perms(rights)


def _sees_work(person: User) -> bool:
    return bool(scope_of(person).sees)


def _sees_refunds(person: User) -> bool:
    has_list = person.has_perm(Right.USE_DRAWERS) or person.has_perm(Right.VIEW_SHIFTS)
    return has_list and person.has_perm(Right.VIEW_ORDERS)


def _sees_callbacks_alone(person: User) -> bool:
    """Whether callbacks are a separate page for this person; other people have them as a tab of the evidence."""
    return person.has_perm(Right.VIEW_CALLBACKS) and not person.has_perm(Right.VIEW_EXCHANGES)


def _sees_branches(person: User) -> bool:
    """Whether the branches are a page of the office: a shop with one never sees the word, unless somebody types it."""
    return has_several() and person.has_perm(Right.CHANGE_SHOP)


@dataclass(frozen=True)
class _Page:
    """A page of a place: its address, the test `may`, and how the names (or a path) of the addresses below begin.

    `kind`: the kind of work that it lists. People who see such work get that part of the list of work instead, which
    links to the page behind `address`.
    """

    name: str
    address: str
    icon: str
    words: str | Promise
    may: _Test
    starts: tuple[str, ...]
    path: str = ""
    kind: str = ""

    def url_for(self, person: User) -> str:
        """The address to which the page leads this person."""
        if self.kind and KINDS[self.kind].may_see(person):
            return f"{reverse('work')}?kind={self.kind}"
        return reverse(self.address)


_BALANCE = _holds(Right.VIEW_BOOKS, Right.VIEW_COST)
_EVIDENCE = ("exchange_", "error_list", "callback_", "audit_")
# fmt: off
PLACES: tuple[tuple[str, str, str | Promise, tuple[_Page, ...]], ...] = (
    ("today", "layout-dashboard", pgettext_lazy("place", "Today"), (
        _Page("overview", "overview", "layout-dashboard", _("Overview"), _holds(), ("overview",)),
    )),
    ("sell", "shopping-cart", pgettext_lazy("place", "Sell"), (
        _Page("counter", "counter", "shopping-cart", _("Counter"), _holds(Right.VIEW_PRODUCT, Right.BUY), ("counter",)),
        _Page("batches", "batch_list", "table-import", pgettext_lazy("place", "Batches"),
            _holds(Right.VIEW_PRODUCT, Right.BUY), ("batch_",)),
        _Page("arrived", "arrived", "message-question", _("Track"), _holds(Right.VIEW_ORDERS), ("arrived",)),
        _Page("catalogue", "catalogue", "list-search", _("Products"), _holds(Right.VIEW_PRODUCT), ("catalogue",),
            path="/products/"),
        _Page("drawer", "drawer", "cash-register", _("My drawer"), _holds(Right.USE_DRAWERS), ("drawer",)),
    )),
    ("work", "checklist", pgettext_lazy("place", "Work"), (
        _Page("work", "work", "checklist", _("To do"), _sees_work, ("work",)),
        _Page("approvals", "approval_list", "checks", _("Approvals"), sees_queue, ("approval_",),
            kind=Approvals.code),
        _Page("refunds", "refund_list", "cash-banknote", pgettext_lazy("refund", "Refunds due"), _sees_refunds,
            ("refund_",), kind=Refunds.code),
        _Page("dues", "due_list", "calendar-dollar", _("Bills due"), _holds(Right.VIEW_BILLS, Right.VIEW_CUSTOMERS),
            ("due_",), kind=Dues.code),
        _Page("complaints", "complaint_list", "message-report", _("Complaints"), _holds(Right.VIEW_COMPLAINTS),
            ("complaint_",), kind=Complaints.code),
    )),
    ("records", "receipt", pgettext_lazy("place", "Records"), (
        _Page("orders", "order_list", "receipt", _("Orders"), _holds(Right.VIEW_ORDERS), ("order_",)),
        _Page("bills", "bill_list", "file-invoice", _("Bills"), _holds(Right.VIEW_BILLS), ("bill",)),
        _Page("customers", "customer_list", "address-book", _("Customers"), _holds(Right.VIEW_CUSTOMERS),
            ("customer_", "number_", "credit_")),
        _Page("credit", "credit_list", "notebook", _("Tabs"), _holds(Right.VIEW_CREDIT), ("credit_",)),
        _Page("shifts", "shift_list", "cash-register", _("Shifts"), _holds(Right.VIEW_SHIFTS), ("shift_",)),
    )),
    ("money", "wallet", pgettext_lazy("place", "Money"), (
        _Page("earnings", "earnings", "chart-bar", _("Earnings"), _holds(Right.VIEW_ORDERS, Right.VIEW_SHIFTS),
            ("earnings", "journal")),
        _Page("balance", "balance", "wallet", _("Balance"), _BALANCE, ("balance",), path="/balance/"),
        _Page("prices", "prices", "tag", _("Prices"), _holds(Right.VIEW_PRODUCT, Right.VIEW_COST),
            ("prices", "price_")),
        _Page("bank", "bank", "building-bank", _("Bank"), _holds(*BANK_RIGHTS), ("bank",)),
        _Page("days", "drawer_day_today", "calendar-check", _("Daily closing"), _holds(Right.VIEW_SHIFTS),
            ("drawer_day",)),
    )),
    ("office", "building-store", pgettext_lazy("place", "Office"), (
        _Page("people", "staff_list", "users", _("Staff"), _holds(Right.MANAGE_STAFF), ("staff_", "role_")),
        _Page("branches", "shop_branches", "map-pin", _("Branches"), _sees_branches, ("shop_branch",)),
        _Page("tills", "till_list", "device-desktop", _("Tills"), _holds(Right.ENROL_TILLS), ("till_",)),
        _Page("drawers", "drawer_list", "cash-register", _("Drawers"), _holds(Right.MANAGE_DRAWERS),
            ("drawer_list", "drawer_change")),
        _Page("shop", "shop_settings", "building-store", _("Shop"), _holds(Right.CHANGE_SHOP),
            ("shop_", "policies", "health", "backups")),
        _Page("files", "export_list", "file-spreadsheet", _("Files"), _holds(Right.VIEW_COST),
            ("export_",)),
        _Page("workbench", "exchange_list", "arrows-exchange", pgettext_lazy("place", "Evidence"),
            _holds(Right.VIEW_EXCHANGES), _EVIDENCE),
        _Page("callbacks", "callback_list", "webhook", _("Callbacks"), _sees_callbacks_alone, ("callback_",)),
    )),
)
# fmt: on
_OF_KINDS = tuple(page for _name, _icon, _words, pages in PLACES for page in pages if page.kind)


@dataclass(frozen=True)
class Page:
    """A page that this person may open. `name` is for scripts and tests; `is_here`: the page shown belongs to it."""

    name: str
    url: str
    icon: str
    words: str | Promise
    is_here: bool

    @property
    def is_counter_shown(self) -> bool:
        """Whether the page shown is the counter."""
        return self.is_here and self.name == "counter"


@dataclass(frozen=True)
class Place:
    """One of the six places, with the pages that this person may open; at least one."""

    name: str
    icon: str
    words: str | Promise
    pages: list[Page]

    @property
    def url(self) -> str:
        return self.pages[0].url

    @property
    def is_here(self) -> bool:
        """Whether the page shown belongs to it."""
        return any(page.is_here for page in self.pages)

    @property
    def has_several(self) -> bool:
        """Whether it has more than one page."""
        return len(self.pages) > 1


@dataclass(frozen=True)
class Navigation:
    """The places of one person, in the order of the side; and the tabs of a phone: places, or a seller's pages."""

    places: list[Place]
    tabs: list[Place | Page]

    @property
    def here(self) -> Place | None:
        """The place of the page shown."""
        return next((place for place in self.places if place.is_here), None)

    @property
    def row(self) -> list[Page]:
        """The pages of the place shown, as a row above the page on a phone; not at the counter, where height counts."""
        here = self.here
        has_row = here and here in self.tabs and here.has_several and not here.pages[0].is_counter_shown
        return here.pages if here and has_row else []

    @property
    def more(self) -> list[Place]:
        """The places with the pages that no tab leads to, the office first."""
        others = [place for place in self.places if place not in self.tabs]
        left = [replace(place, pages=[page for page in place.pages if page not in self.tabs]) for place in others]
        return sorted((place for place in left if place.pages), key=lambda place: place.name != "office")

    @property
    def is_in_more(self) -> bool:
        """Whether the page shown belongs to none of the tabs."""
        return not any(tab.is_here for tab in self.tabs)


def navigation_of(request: HttpRequest) -> Navigation:
    """The places of the signed-in person. A page that is not found belongs to none of them."""
    person: User = request.user  # type: ignore[assignment] # signed in
    match = request.resolver_match
    here = _page_of(person, match.url_name or "", f"/{match.route}") if match else None
    if kind := work_kind_of(request):
        here = next((page for page in _OF_KINDS if page.kind == kind and page.may(person)), here)
    places = []
    for name, icon, words, pages in PLACES:
        open_to = [page for page in pages if page.may(person)]
        if open_to:
            shown = [Page(page.name, page.url_for(person), page.icon, page.words, page is here) for page in open_to]
            places.append(Place(name, icon, words, shown))
    return Navigation(places=places, tabs=_tabs_of(person, places))


def work_kind_of(request: HttpRequest) -> str:
    """The kind of work that the list is limited to, if that kind has a page of its own; else empty."""
    match = request.resolver_match
    kind = request.GET.get("kind", "") if match and match.url_name == "work" else ""
    return kind if any(page.kind == kind for page in _OF_KINDS) else ""


def _page_of(person: User, name: str, path: str) -> _Page | None:
    """The page to which this address belongs: the one with the longest beginning that fits, the last of several."""
    fitting = [
        (len(start), page)
        for _name, _icon, _words, pages in PLACES
        for page in pages
        if page.may(person)
        for start in (*(start for start in page.starts if name.startswith(start)), *_fits_path(page, path))
    ]
    longest = max((length for length, _page in fitting), default=0)
    return next((page for length, page in reversed(fitting) if length == longest), None)


def _fits_path(page: _Page, path: str) -> list[str]:
    # a path counts less than any name: it is for pages that no name tells apart
    return ["/"] if page.path and path.startswith(page.path) else []


def _tabs_of(person: User, places: list[Place]) -> list[Place | Page]:
    sells_only = person.has_perm(Right.BUY) and not person.has_perm(Right.VIEW_SHIFTS)
    every: list[Place | Page] = [page for place in places for page in place.pages] if sells_only else [*places]
    by_name = {tab.name: tab for tab in every}
    wanted = _OF_SELLERS if sells_only else _OF_OTHERS
    return [by_name[name] for name in wanted if name in by_name][:_TABS]
