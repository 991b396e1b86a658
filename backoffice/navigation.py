"""The places that a person can go to: all of them at the side, and on a phone five tabs at the bottom."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from core.access import StaffRequest
from core.rights import Right
from work.services import scope_of

# Beside them stands the fifth tab, "More", with everything else.
_TABS = 4
# Which places are the tabs: of those that the person may see, the first ones.
_OF_SELLERS = ("counter", "bills", "orders", "drawer", "work", "customers")
_OF_OTHERS = ("overview", "work", "orders", "balance", "workbench", "bills", "drawer", "catalogue")

_WORKBENCH = ("exchange_list", "exchange_detail", "error_list", "audit_list", "callback_list", "callback_detail")


@dataclass(frozen=True)
class Place:
    """The places of the app. `name` is for scripts and tests; `is_here`: the page shown belongs to it."""

    name: str
    url: str
    icon: str
    words: str
    is_here: bool


@dataclass(frozen=True)
class Navigation:
    """The places of one person, in the order of the side."""

    places: list[Place]
    tabs: list[Place]

    @property
    def more(self) -> list[Place]:
        """The places that are not tabs."""
        return [place for place in self.places if place not in self.tabs]

    @property
    def is_in_more(self) -> bool:
        """Whether the page shown belongs to none of the tabs."""
        return not any(place.is_here for place in self.tabs)


def navigation_of(request: HttpRequest) -> Navigation:
    """The places of the signed-in person. A page that is not found is in none of them."""
    places = [*_places(request)]  # type: ignore[arg-type] # signed in
    wanted = _OF_SELLERS if request.user.has_perm(Right.BUY) else _OF_OTHERS
    by_name = {place.name: place for place in places}
    chosen = [by_name[name] for name in wanted if name in by_name][:_TABS]
    return Navigation(places=places, tabs=chosen)


def _places(request: StaffRequest) -> list[Place]:
    """Each place that the person may see."""
    may = request.user.has_perm
    at = _Position(request)
    places = [Place("overview", reverse("overview"), "layout-dashboard", _("Overview"), at.name == "overview")]

    def add(name: str, address: str, icon: str, words: str, *, is_here: bool) -> None:
        places.append(Place(name, reverse(address), icon, words, is_here))

    if scope_of(request.user).sees:
        is_here = at.begins("work", "approval_", "refund_", "complaint_")
        add("work", "work", "checklist", pgettext("place", "Work"), is_here=is_here)
    if may(Right.VIEW_PRODUCT):
        is_here = at.begins("counter") or at.path.startswith("/products/")
        if may(Right.BUY):
            add("counter", "counter", "shopping-cart", _("Sell"), is_here=is_here)
        else:
            add("catalogue", "catalogue", "shopping-cart", _("Products"), is_here=is_here)
    if may(Right.VIEW_BILLS):
        add("bills", "bill_list", "file-invoice", _("Bills"), is_here=at.begins("bill"))
    if may(Right.VIEW_ORDERS):
        add("orders", "order_list", "receipt", _("Orders"), is_here=at.begins("order_"))
        add("arrived", "arrived", "message-question", _("Track"), is_here=at.begins("arrived"))
    if may(Right.VIEW_BOOKS) and may(Right.VIEW_COST):
        add("balance", "balance", "wallet", _("Balance"), is_here=at.path.startswith("/balance/"))
    if may(Right.VIEW_ORDERS) and may(Right.VIEW_SHIFTS):
        add("earnings", "earnings", "chart-bar", _("Earnings"), is_here=at.begins("earnings"))
    if may(Right.VIEW_CUSTOMERS):
        is_here = at.begins("customer_", "number_") or (at.begins("credit_") and not may(Right.VIEW_CREDIT))
        add("customers", "customer_list", "address-book", _("Customers"), is_here=is_here)
    if may(Right.VIEW_CREDIT):
        add("credit", "credit_list", "notebook", _("Tabs"), is_here=at.begins("credit_"))
    if may(Right.USE_DRAWERS) or may(Right.VIEW_SHIFTS):
        address = "drawer" if may(Right.USE_DRAWERS) else "shift_list"
        add("drawer", address, "cash-register", _("Drawer"), is_here=at.begins("drawer", "shift_"))
    return [*places, *_evidence(may, at)]


def _evidence(may: Callable[[str], bool], at: _Position) -> Iterator[Place]:
    if may(Right.VIEW_EXCHANGES):
        words, is_here = pgettext("place", "Evidence"), at.name in _WORKBENCH
        yield Place("workbench", reverse("exchange_list"), "arrows-exchange", words, is_here)
    elif may(Right.VIEW_CALLBACKS):
        is_here = at.begins("callback_")
        yield Place("callbacks", reverse("callback_list"), "webhook", _("Callbacks"), is_here)


class _Position:
    """Which page the request is for: the name of its address, and its path. The frame is kept under both."""

    def __init__(self, request: HttpRequest) -> None:
        match = request.resolver_match
        self.name, self.path = (match.url_name or "", f"/{match.route}") if match else ("", "")

    def begins(self, *starts: str) -> bool:
        """Whether the address's name begins with one of these."""
        return self.name.startswith(starts)
