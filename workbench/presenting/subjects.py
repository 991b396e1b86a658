"""The subjects of audit events in words: a person's name for a user name, and a link for readers who may open it.

What a page names is read at once. A deleted row keeps only its number.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Q
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext, pgettext_lazy

from alerts.kinds import KINDS
from alerts.models import Alert
from audit.kinds import Kind
from audit.models import AuditEvent
from bills.models import BillCheck
from catalogue.services import name_of_all
from core.rights import Right, Role
from core.times import day_words
from customers.models import Customer
from drawers.models import Drawer
from purchases.models import Order
from staff.models import User
from staff.rights import ALL_ROLES
from tills.models import Till

#: Events whose subject is a user name.
_ABOUT_PEOPLE = {
    *(Kind.SIGN_IN_FAILED, Kind.SESSIONS_ENDED, Kind.LOCKED, Kind.OUTSIDE_LINKED, Kind.PASSWORD_CHANGED),
    *(Kind.STAFF_INVITED, Kind.STAFF_SWITCHED_OFF, Kind.STAFF_SWITCHED_ON),
    *(Kind.LINK_MADE, Kind.LINK_USED, Kind.LINK_WITHDRAWN, Kind.ROLE_CHANGED, Kind.LIMIT_CHANGED),
    *(Kind.FACTOR_ADDED, Kind.FACTOR_REMOVED, Kind.PASSWORD_REFUSED),
    *(Kind.PIN_SET, Kind.PIN_REMOVED, Kind.PIN_FAILED),
}
#: Events whose subject is a till's name; its number is a fact.
_ABOUT_TILLS = {Kind.TILL_ENROLLED, Kind.TILL_SWITCHED_OFF, Kind.UNLOCKED, Kind.PIN_LOCKED, Kind.PIN_SIGN_IN}
#: Events about an order or a bill check, by ref_id; a file may be of something else.
_ABOUT_ORDERS = {Kind.PRINTED, Kind.FULL_NUMBER_SEEN, Kind.GIVEN_BACK, Kind.EXPORT_MADE}
_ABOUT_ALERTS = {Kind.ALERT_SNOOZED, Kind.ALERT_SHOWN_AGAIN}
#: Facts that hold a person's number.
_PEOPLE_FACTS = ("account", "approved_by", "asked_by", "made_by")
_NUMBERED = re.compile(r"(approval|customer|drawer|shift|till|person|verdict|adjustment)[ :](\d{1,18})")
_OUTSIDE = re.compile(r"outside:(\d{1,18}):(\w+)")
_NUMBERS: dict[str, Promise] = {
    "approval": pgettext_lazy("audit", "Approval no. %(number)s"),
    "customer": pgettext_lazy("audit", "Customer no. %(number)s"),
    "drawer": pgettext_lazy("audit", "Drawer no. %(number)s"),
    "shift": pgettext_lazy("audit", "Shift no. %(number)s"),
    "till": pgettext_lazy("audit", "Till no. %(number)s"),
    "person": pgettext_lazy("audit", "Person no. %(number)s"),
    "verdict": pgettext_lazy("audit", "Decision no. %(number)s"),
    "adjustment": pgettext_lazy("audit", "Adjustment no. %(number)s"),
}
# A kind of subject: its words, its page, and the right to open it.
_PLACES: dict[tuple[str, str], tuple[Promise, str, tuple[str, ...]]] = {
    (Kind.SETTING_CHANGED, "shop"): (_("The shop's settings"), "shop_settings", (Right.CHANGE_SHOP,)),
    (Kind.EXPORT_MADE, "audit"): (_("Activity log"), "audit_list", (Right.VIEW_AUDIT,)),
    (Kind.EXPORT_MADE, "credit"): (_("Tabs"), "credit_list", (Right.VIEW_CREDIT,)),
    (Kind.EXPORT_MADE, "statement"): (_("Statement"), "statement", (Right.VIEW_STATEMENT, Right.VIEW_COST)),
}
# Which page shows it, and what it takes to open it; a customer's, an order's and a bill's are chosen below.
_PAGES: dict[str, tuple[str, str]] = {
    "approval": ("approval_detail", Right.VIEW_APPROVALS),
    "drawer": ("drawer_change", Right.MANAGE_DRAWERS),
    "shift": ("shift_detail", Right.VIEW_SHIFTS),
    "till": ("till_detail", Right.ENROL_TILLS),
    "person": ("staff_detail", Right.MANAGE_STAFF),
}


class About(NamedTuple):
    """The subject of one event. `sub`: its code beside a name. `url`: empty without a page that the reader may open."""

    words: str
    url: str = ""
    sub: str = ""
    is_code: bool = False

    def as_html(self) -> SafeString:
        """For a cell."""
        words = (
            format_html('<span class="mono">{}</span>', self.words) if self.is_code else format_html("{}", self.words)
        )
        shown = format_html('<a href="{}">{}</a>', self.url, words) if self.url else words
        return format_html('{} <span class="sub">{}</span>', shown, self.sub) if self.sub else shown


@dataclass(frozen=True)
class Subjects:
    """The names of what a page of events is about, and what its reader may open."""

    reader: User
    people: dict[int, User]
    by_username: dict[str, User]
    named: dict[tuple[str, int], str]
    orders: set[str]
    checks: set[str]
    alerts: dict[str, Alert]

    @classmethod
    def of(cls, events: Iterable[AuditEvent], reader: User) -> Subjects:
        """Read what the events name."""
        rows = list(events)
        numbers = _numbers_in(rows)
        usernames = {event.subject for event in rows if event.kind in _ABOUT_PEOPLE}
        refs = {event.subject for event in rows if event.kind in _ABOUT_ORDERS}
        hidden = [event.subject.partition(" ") for event in rows if event.kind in _ABOUT_ALERTS]
        alerts = Alert.objects.filter(kind__in={kind for kind, *_ in hidden}, key__in={key for *_, key in hidden})
        people = list(User.objects.filter(Q(pk__in=numbers["person"]) | Q(username__in=usernames)))
        models: dict[str, Any] = {"drawer": Drawer, "till": Till}
        if _may_any(reader, Right.VIEW_CUSTOMERS, Right.USE_CREDIT, Right.VIEW_CREDIT):
            models["customer"] = Customer
        named = {
            (kind, pk): name
            for kind, model in models.items()
            for pk, name in model.objects.filter(pk__in=numbers[kind]).values_list("pk", "name")
        }
        return cls(
            reader=reader,
            people={one.pk: one for one in people},
            by_username={one.username: one for one in people},
            named=named,
            orders=set(Order.objects.filter(ref_id__in=refs).values_list("ref_id", flat=True)),
            checks=set(BillCheck.objects.filter(ref_id__in=refs).values_list("ref_id", flat=True)),
            alerts={str(alert): alert for alert in alerts.order_by("opened_at")},
        )

    def about(self, event: AuditEvent) -> About:
        """The subject of this event."""
        subject, kind = event.subject, event.kind
        if kind in _ABOUT_PEOPLE and subject:
            person = self.by_username.get(subject)
            return self._person(person) if person else About(subject, is_code=True)
        if kind in _ABOUT_TILLS:
            number = (event.facts or {}).get("till")
            return About(subject, self._page("till", number) if isinstance(number, int) else "")
        if kind in _ABOUT_ORDERS and (subject in self.orders or subject in self.checks):
            return About(subject, self._order_page(subject), is_code=True)
        if kind in _ABOUT_ALERTS:
            return self._alert(subject)
        return self._coded(subject, kind)

    def words(self, subject: str, content: Mapping[str, Any]) -> str:
        """The subject of an approval, as the facts of its events keep it beside its content."""
        if found := _OUTSIDE.fullmatch(subject):
            return f"{self.name_of(int(found[1]))} → {_role_words(found[2])}"
        what, _colon, which = subject.partition(":")
        match what:
            case "role":
                return _role_words(which)
            case "invite":
                return which
            case "all":
                return name_of_all(subject)
            case "category" | "brand" | "product":
                return str(content.get("name") or subject)
        return self._coded(subject, "").words

    def name_of(self, number: int) -> str:
        """A person by number: the name and the number; the number alone for an unknown person."""
        person = self.people.get(number)
        return f"{person.shown_name} ({number})" if person else str(number)

    def fact(self, name: str, value: Any) -> str | None:
        """A fact that is somebody's or a till's number, as a name; None for any other."""
        if not isinstance(value, int) or isinstance(value, bool):
            return None
        if name in _PEOPLE_FACTS:
            return self.name_of(value)
        return self.named.get(("till", value)) if name == "till" else None

    def _coded(self, subject: str, kind: str) -> About:
        if found := _NUMBERED.fullmatch(subject):
            return self._numbered(found[1], int(found[2]))
        if kind == Kind.ROLE_EDITED:
            return self._role(subject)
        if (kind, subject) in _PLACES:
            place, page, rights = _PLACES[kind, subject]
            return About(str(place), self._open(page, *rights))
        if kind == Kind.PRICE_RULE_CHANGED:
            words = name_of_all(subject) if subject.startswith("all:") else subject
            return About(words, self._open("prices", Right.VIEW_PRODUCT, Right.VIEW_COST))
        if day := day_words(subject.removeprefix("day ")):
            iso = subject.removeprefix("day ")
            return About(day, self._open("drawer_day", Right.VIEW_SHIFTS, args=[iso]))
        return About(subject, is_code=True)

    def _numbered(self, what: str, number: int) -> About:
        if what == "person" and (person := self.people.get(number)):
            return self._person(person)
        words, name = str(_NUMBERS[what]) % {"number": number}, self.named.get((what, number))
        if what == "customer":
            return About(name or words, self._customer_page(number) if name else "", words if name else "")
        if what in {"drawer", "till"}:
            return About(name or words, self._page(what, number) if name else "", words if name else "")
        return About(words, self._page(what, number))

    def _person(self, person: User) -> About:
        sub = "" if person.shown_name == person.username else person.username
        return About(person.shown_name, self._page("person", person.pk), sub)

    def _role(self, subject: str) -> About:
        if subject == ALL_ROLES:
            return About(pgettext("audit", "Every role"), self._open("role_list", Right.CHANGE_ROLES))
        args = [subject] if subject in Role.values else None
        return About(_role_words(subject), self._open("role_detail", Right.CHANGE_ROLES, args=args) if args else "")

    def _alert(self, subject: str) -> About:
        alert = self.alerts.get(subject)
        if alert is None or alert.kind not in KINDS:
            return About(subject, is_code=True)
        title = KINDS[alert.kind].words(alert.facts, self.reader).title
        return About(title, self._open("alert_list", Right.VIEW_ALERTS))

    def _page(self, what: str, number: int) -> str:
        if what not in _PAGES:
            return ""
        page, right = _PAGES[what]
        return self._open(page, right, args=[number])

    def _order_page(self, ref_id: str) -> str:
        if ref_id in self.orders:
            return self._open("order_detail", Right.VIEW_ORDERS, args=[ref_id])
        return self._open("bill_detail", Right.VIEW_BILLS, args=[ref_id])

    def _customer_page(self, number: int) -> str:
        if _may_any(self.reader, Right.USE_CREDIT, Right.VIEW_CREDIT):
            return reverse("credit_account", args=[number])
        return self._open("customer_detail", Right.VIEW_CUSTOMERS, args=[number])

    def _open(self, page: str, *rights: str, args: list[Any] | None = None) -> str:
        return reverse(page, args=args) if self.reader.has_perms(rights) else ""


def _numbers_in(rows: list[AuditEvent]) -> dict[str, set[int]]:
    numbers: dict[str, set[int]] = defaultdict(set)
    for event in rows:
        facts = event.facts or {}
        for text in (event.subject, str(facts.get("subject", ""))):
            if found := _NUMBERED.fullmatch(text):
                numbers[found[1]].add(int(found[2]))
            elif found := _OUTSIDE.fullmatch(text):
                numbers["person"].add(int(found[1]))
        numbers["person"].update(facts[name] for name in _PEOPLE_FACTS if isinstance(facts.get(name), int))
        if isinstance(facts.get("till"), int):
            numbers["till"].add(facts["till"])
    return numbers


def _may_any(reader: User, *rights: str) -> bool:
    return any(reader.has_perm(right) for right in rights)


def _role_words(role: str) -> str:
    return str(Role(role).label) if role in Role.values else role
