"""The workbench's lists."""

from collections.abc import Callable, Iterable
from functools import cache, partial
from operator import attrgetter
from typing import Any, ClassVar

from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy as _

from audit.events import event_label
from audit.models import AuditEvent
from audit.subjects import Subjects
from core.rights import Role
from core.tables import Table, column, row_link
from core.times import day_words, moment
from exports.listing import filter_words
from gateway.models import Exchange
from staff.models import User
from workbench.presenting import errors
from workbench.presenting.events import as_text, details_of, masked
from workbench.presenting.exchanges import endpoint_words, error_cell, milliseconds, ordinal_words, result_of
from workbench.services.errors import Group

# The fields of an event that may contain customers' numbers.
_NUMBERS_IN = ("before", "after", "facts")


def _masked(name: str) -> Callable[[AuditEvent], str]:
    return lambda event: as_text(masked(event)[name])


def _whole(name: str) -> Callable[[AuditEvent], str]:
    return lambda event: as_text(getattr(event, name))


def _role_words(roles: str) -> str:
    return ", ".join(str(Role(name).label) if name in Role.values else name for name in roles.split(","))


class ExchangeTable(Table[Exchange]):
    """Exchanges, without their bodies."""

    caption = _("Exchanges, newest first")

    @column(_("Outcome"), phone="1 left")
    def status(self, exchange: Exchange) -> SafeString:
        return result_of(exchange.error).badge

    @column(_("Request"), phone="2 left")
    def request(self, exchange: Exchange) -> SafeString:
        """The request, and its ordinal among repeats; links to it."""
        link = row_link(reverse("exchange_detail", args=[exchange.pk]), endpoint_words(exchange.endpoint))
        return format_html('{} <span class="sub nowrap">{}</span>', link, ordinal_words(exchange))

    @column(_("ref_id"), css="mono nowrap", phone="3 wide")
    def ref(self, exchange: Exchange) -> str:
        """The order or bill check of the exchange."""
        return exchange.ref_id

    @column(_("Status or error"), phone="4 wide")
    def error(self, exchange: Exchange) -> SafeString | str:
        return error_cell(exchange)

    @column(_("HTTP"), css="num", phone="none")
    def http(self, exchange: Exchange) -> object:
        return exchange.http_status or "–"

    @column(_("Latency"), css="num nowrap", phone="2 right")
    def latency(self, exchange: Exchange) -> SafeString:
        """The time of the answer, and the time that the request waited for the rate budget before."""
        shown = milliseconds(exchange.latency_ms)
        if not exchange.waited_ms:
            return format_html("{}", shown)
        waited = gettext("waited %(time)s") % {"time": milliseconds(exchange.waited_ms)}
        return format_html('{}<div class="sub">{}</div>', shown, waited)

    @column(_("Sent"), phone="1 right")
    def time(self, exchange: Exchange) -> SafeString:
        return moment(exchange.sent_at)


class AuditTable(Table[AuditEvent]):
    """The activity log: each action with its person and its subject, as a link if `reader` may open it."""

    caption = _("Activity log, newest first")
    export: ClassVar = {
        "id": attrgetter("pk"),
        "at": attrgetter("at"),
        "kind": attrgetter("kind"),
        "person": lambda event: event.person.username if event.person else "",
        **{name: attrgetter(name) for name in ("role", "address", "request_id", "subject")},
        **{name: _masked(name) for name in _NUMBERS_IN},
    }
    export_whole: ClassVar = export | {name: _whole(name) for name in _NUMBERS_IN}
    export_words: ClassVar = {
        "at": _("Time"),
        "kind": _("Action"),
        "person": _("Person"),
        "role": _("Role"),
        "address": _("IP address"),
        "subject": _("About"),
        "before": _("Before"),
        "after": _("After"),
        "facts": _("Details"),
        **{name: name for name in ("id", "request_id")},
    }
    export_shown: ClassVar = {
        "kind": lambda event: event_label(event.kind),
        "role": lambda event: _role_words(event.role),
    }

    @column(_("Action"), css="strong", phone="1 left")
    def kind(self, event: AuditEvent) -> str:
        return event_label(event.kind)

    @column(_("Person"), phone="2 left")
    def person(self, event: AuditEvent) -> SafeString:
        person = event.person.username if event.person else "–"
        return format_html('{} <span class="sub">{}</span>', person, _role_words(event.role))

    def __init__(self, events: Iterable[AuditEvent], *, reader: User) -> None:
        super().__init__(events)
        self.subjects = Subjects(self.rows, reader)
        self.filters = cache(partial(filter_words, reader=reader))

    @column(_("About"), phone="3 wide")
    def subject(self, event: AuditEvent) -> SafeString:
        """The subject, with a link to it."""
        return self.subjects.about(event).as_html()

    @column(_("Details"), css="sub", phone="4 wide")
    def details(self, event: AuditEvent) -> SafeString:
        return details_of(event, self.subjects, self.filters)

    @column(_("Address"), css="mono sub nowrap", phone="2 right")
    def address(self, event: AuditEvent) -> str:
        return event.address

    @column(_("When"), phone="1 right")
    def time(self, event: AuditEvent) -> SafeString:
        return moment(event.at)


class ErrorTable(Table[Any]):
    """Groups of errors (`workbench.services.errors.Group`)."""

    caption = _("Errors in groups, newest first")

    @column(_("About"), phone="1 left")
    def about(self, group: Group) -> SafeString:
        """The request or callback; links to the list of the whole group."""
        words, url = errors.about_words(group), errors.list_url(group)
        return row_link(url, words) if url else format_html("{}", words)

    @column(_("Error"), phone="2 wide")
    def error(self, group: Group) -> SafeString:
        return errors.error_cell(group)

    @column(_("Count"), css="num strong", phone="1 right")
    def count(self, group: Group) -> str:
        """The number of errors, up to a bound."""
        return errors.count_words(group.count)

    @column(_("Last 24 hours"), phone="3 left")
    def trend(self, group: Group) -> SafeString:
        """A bar for each hour."""
        return errors.trend_drawing(group.trend)

    @column(_("First"), css="sub nowrap", phone="none")
    def first(self, group: Group) -> SafeString | str:
        """The time of the first error."""
        return day_words(timezone.localdate(group.first)) if not group.trend else moment(group.first)

    @column(_("Last"), css="nowrap", phone="3 right")
    def last(self, group: Group) -> SafeString | str:
        """The time of the last error, as a link to it."""
        if group.about == "refusal":
            return day_words(timezone.localdate(group.last))
        example = format_html('<a href="{}" class="over-row">{}</a>', errors.last_url(group), gettext("last example"))
        return format_html('{}<div class="sub">{}</div>', moment(group.last), example)
