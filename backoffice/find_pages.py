"""The pages, settings and actions that "find anything" knows; and all its kinds in order."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from django.conf import settings
from django.urls import reverse
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from backoffice.find_earnings import earnings_asked
from backoffice.navigation import PLACES
from backoffice.sections import SECTIONS
from branches.seeing import own_branch
from catalogue.rights import sees_cost
from core.access import may_open
from core.periods import Period
from core.rights import Right
from find.kinds import NAMES, PRICES, PRODUCTS, ROWS
from find.kinds.asked import Asked
from find.kinds.kind import Kind, Result
from policies.words import WORDS
from purchases.events import FULL_NUMBER_SEEN
from purchases.states import Status
from shop.forms import ShopForm
from staff.forms import PreferencesForm
from staff.models import User
from work.kinds.incidents import Incidents
from work.kinds.orders import Orders

_Words = str | Promise


class _Page(NamedTuple):
    """One page: its name in the addresses, icon, words, the page that it is part of, and the test of people who see it.

    `also`: other words that people look for it by; they are not shown. `place`: a part of the page, behind its address.
    """

    name: str
    icon: str
    words: _Words
    within: _Words = ""
    may: Callable[[User], bool] = lambda _person: True
    also: _Words = ""
    place: str = ""

    @property
    def url(self) -> str:
        return f"{reverse(self.name)}{self.place}"

    def may_be_opened_by(self, person: User) -> bool:
        """Whether the person sees the page in its place, and its view lets the person in."""
        return self.may(person) and may_open(person, self.url)


def _is_own(person: User) -> bool:
    """Whether the person signed in without a PIN: a PIN session opens no page of one's own account."""
    return not person.by_pin


def _holds(*rights: Right) -> Callable[[User], bool]:
    return lambda person: person.has_perms(rights)


# Other words that people use for these pages; each language has its own.
_ALSO: dict[str, _Words] = {
    "approval_list": pgettext_lazy("find", "approve, refuse, second person"),
    "order_list": pgettext_lazy("find", "file of orders, download transactions"),
    "earnings": pgettext_lazy("find", "profit, sales, revenue, report"),
    "bank": pgettext_lazy("find", "bank statement, QRIS, transfer, account"),
    "prices": pgettext_lazy("find", "selling prices, margin, markup, fee, admin fee"),
    "refund_list": pgettext_lazy("find", "refunds, returns, give money back"),
    "balance": pgettext_lazy("find", "difference, reconcile"),
    "credit_list": pgettext_lazy("find", "debts, who owes"),
    "drawer_day_today": pgettext_lazy("find", "sign the day, close the day, shifts of the day, days, cash"),
    "closing_today": pgettext_lazy("find", "closing of the balance, opening balance"),
    "export_list": pgettext_lazy("find", "exports, downloads, Excel, CSV"),
    "exchange_list": pgettext_lazy("find", "requests to the provider"),
    "callback_list": pgettext_lazy("find", "webhooks"),
    "audit_list": pgettext_lazy("find", "audit, history, verify, who did what"),
    "drawer": pgettext_lazy("find", "open the drawer, shift"),
    "staff_invite": pgettext_lazy("find", "add a new cashier, employee, user, account"),
    "shop_branches": pgettext_lazy("find", "add a second branch, open a new place, another shop, outlet, location"),
    "quiet_from": pgettext_lazy("find", "quiet hours"),
}
_OF_STATUSES: dict[Status, _Words] = {
    Status.UNKNOWN: pgettext_lazy("find", "outcome unknown, may have been charged"),
    Status.NEEDS_ACTION: pgettext_lazy("find", "never arrived, may have been charged"),
}
_GUIDES = frozenset({"guide", "owner_guide"})
_OF_PLACES = tuple(
    _Page(page.address, page.icon, page.words, words, page.may, _ALSO.get(page.address, ""))
    for _name, _icon, words, pages in PLACES
    for page in pages
)
_OTHERS = (
    _Page("customer_add", "plus", _("Add a customer")),
    _Page("staff_invite", "plus", _("Add a person"), also=_ALSO["staff_invite"]),
    _Page("till_add", "plus", _("Enrol a till")),
    _Page("run_list", "scale", _("Comparisons"), _("Balance")),
    _Page("price_rule", "plus", _("Add a price rule")),
    _Page(
        "earnings",
        "chart-bar",
        _("Earnings by category"),
        _("Earnings"),
        sees_cost,
        pgettext_lazy("find", "tax, VAT, taxable base"),
        f"?by=category&days={Period.LAST_MONTH}",
    ),
    _Page(
        "journal",
        "notebook",
        _("Journal of a day"),
        _("Earnings"),
        lambda _person: own_branch() is None,
        pgettext_lazy("find", "general ledger, bookkeeping, accounting"),
    ),
    _Page("price_changes", "tag", _("Price changes"), _("Products")),
    _Page("price_list", "tag", _("Price list"), _("Products")),
    _Page("kind_list", "tag", _("Kinds of numbers"), _("Products")),
    _Page("drawer", "cash-register", pgettext_lazy("find", "Close the drawer"), _("My drawer")),
    _Page(
        "balance",
        "wallet",
        _("Announce a top-up"),
        _("Balance"),
        _holds(Right.ACKNOWLEDGE_DIFFERENCES, Right.VIEW_DIFFERENCES),
        pgettext_lazy("find", "topup, deposit, fill up the balance"),
        "#announce-title",
    ),
    *(
        _Page(page.name, "layout-dashboard", page.words, section, also=_ALSO.get(page.name, ""))
        for section, pages in SECTIONS
        for page in pages
    ),
    _Page(
        "work",
        "alert-triangle",
        Incidents.words,
        pgettext_lazy("place", "Work"),
        Incidents().may_see,
        place=f"?kind={Incidents.code}",
    ),
    _Page(
        "work",
        "clock",
        _("Overdue and due today"),
        pgettext_lazy("place", "Work"),
        next(page.may for *_place, pages in PLACES for page in pages if page.address == "work"),
        pgettext_lazy("find", "overdue, due today, late"),
    ),
    _Page(
        "credit_list",
        "notebook",
        _("Tabs overdue"),
        _("Tabs"),
        also=pgettext_lazy("find", "debts overdue"),
        place="?age=due",
    ),
    *(  # first what waits for a person: an order that needs action is not in the list of unknown ones
        page
        for status, also in _OF_STATUSES.items()
        for page in (
            _Page(
                "work",
                status.look.icon,
                status.label,
                pgettext_lazy("place", "Work"),
                Orders().may_see,
                also,
                f"?kind={Orders.code}",
            ),
            _Page("order_list", status.look.icon, status.label, _("Orders"), place=f"?status={status}", also=also),
        )
    ),
    _Page(
        "audit_list",
        "eye",
        _("Full number shown"),
        _("Activity log"),
        place=f"?kind={FULL_NUMBER_SEEN.key}",
        also=pgettext_lazy("find", "full numbers, who saw them"),
    ),
    _Page("shop_branches", "map-pin", _("Branches"), _("Shop"), also=_ALSO["shop_branches"]),
    _Page(
        "alert_ways", "bell", _("Ways of alerts"), _("Alerts"), also=pgettext_lazy("find", "webhook, e-mail, Telegram")
    ),
    _Page("health", "heartbeat", _("Health")),
    _Page("guide", "help-circle", _("Guide for cashiers")),
    _Page("owner_guide", "help-circle", _("Guide for owners")),
    _Page("guide", "help-circle", _("Wrong number typed"), _("Guide for cashiers"), place="#wrong-number"),
    _Page("preferences", "settings", _("Preferences"), "", _is_own),
    _Page("own_factors", "shield-lock", _("Second factor"), "", _is_own),
    _Page("account_change_password", "lock", _("Change password"), "", _is_own),
    _Page("own_pin", "password", _("PIN for tills"), "", _is_own),
)
_SETTINGS = (
    *(
        _Page("preferences", "settings", words, _("Preferences"), _is_own)
        for words in PreferencesForm.Meta.labels.values()
    ),
    *(
        _Page("shop_settings", "building-store", field.label or "", _("Shop"))
        for field in ShopForm.base_fields.values()
    ),
    *(
        _Page("policies", "building-store", words.label, _("Policies"), also=_ALSO.get(name, ""))
        for name, words in WORDS.items()
    ),
)


def _pages(asked: Asked) -> Iterator[Result]:
    """The pages with words that begin with the typed text; without a text the pages of the places.

    Matches by name come first, then by other words, then by the page that they are part of; guides come last.
    """
    yield from earnings_asked(asked)
    typed = _words_of(asked.text)
    pages = (*_OF_PLACES, *_OTHERS, *_SETTINGS) if typed else _OF_PLACES
    matches = [page for page in pages if _begins(_known(page), typed)]
    seen = set()
    for page in sorted(matches, key=lambda page: _place_of(page, typed)):
        shown = (page.name, str(page.words))
        if page.words and shown not in seen and page.may_be_opened_by(asked.person):
            seen.add(shown)
            yield Result(
                url=page.url,
                words=str(page.words),
                more=str(page.within),
                icon=page.icon,
                is_meant=typed in _phrases(page),
            )


def _begins(known: frozenset[str], typed: frozenset[str]) -> bool:
    return all(any(word.startswith(beginning) for word in known) for beginning in typed)


def _place_of(page: _Page, typed: frozenset[str]) -> int:
    if page.name in _GUIDES:
        return 3
    return 0 if _begins(_words_of(page.words), typed) else 1 if _begins(_known(page, whole=False), typed) else 2


def _words_of(text: _Words) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", str(text).lower()))


@cache
def _phrases(page: _Page) -> frozenset[frozenset[str]]:
    """The other names of the page, in every language. Such a name typed as a whole means no days: "due today"."""
    phrases: set[frozenset[str]] = set()
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            phrases |= {_words_of(phrase) for phrase in str(page.also).split(",")}
    return frozenset(phrases)


@cache
def _known(page: _Page, *, whole: bool = True) -> frozenset[str]:
    """The words that find the page, in every language; without `whole`, not those of the page that it is part of."""
    words: set[str] = set()
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            words |= _words_of(f"{page.words} {page.also} {page.within if whole else ''}")
    return frozenset(words)


#: Pages come before products, so that a product found despite a typing error never stands before a page of that name.
KINDS = (*ROWS, Kind("pages", pgettext_lazy("find", "Pages and settings"), (), _pages), *NAMES, PRICES, PRODUCTS)
