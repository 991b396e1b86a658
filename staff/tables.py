"""People and their sessions as lists."""

import datetime as dt
import hashlib
from collections.abc import Iterable
from typing import Any

from django.db.models import Model
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy as _, ngettext

from core.tables import Table, column, row_link
from core.times import moment
from staff.models import Session, User
from staff.presenting import device_words, factor_words, standing_of, waiting_role_of
from staff.roles import role_of
from staff.sessions import BEGAN, DEVICE, SessionStore


class StaffTable(Table[User]):
    """People `for_table()`, in their state at `now`."""

    caption = _("People by name")

    def __init__(self, people: Iterable[User], *, now: dt.datetime) -> None:
        super().__init__(people)
        self.now = now

    @column(_("Name"), phone="1 left")
    def name(self, person: User) -> SafeString:
        """The name, which leads to the person's page."""
        link = row_link(person.get_absolute_url(), person.shown_name)
        return link if person.shown_name == person.username else _with_user_name(link, person)

    @column(_("Role"), phone="2 left")
    def role(self, person: User) -> Any:
        """The highest role, and a role that waits for a second person."""
        role, waits = role_of(person), waiting_role_of(person)
        label = role.label if role else gettext("None")
        if waits is None:
            return label
        words = gettext("%(role)s waits for approval") % {"role": waits.label}
        return format_html('{}<div class="sub" data-waits="{}">{}</div>', label, waits.value, words)

    @column(_("State"), phone="1 right")
    def state(self, person: User) -> SafeString:
        return standing_of(person, link_until=person.link_until, now=self.now).badge  # type: ignore[attr-defined]

    @column(_("Second factor"), css="sub", phone="2 right")
    def factor(self, person: User) -> Any:
        """The kinds of the person's second factors; "None" stands out."""
        label = format_html('<span class="phone-label">{}:</span> ', gettext("Second factor"))
        kinds = factor_words(person)
        return format_html("{}{}", label, kinds or format_html('<span data-factor="none">{}</span>', gettext("None")))

    @column(_("Last sign-in"), css="sub", phone="3 left")
    def time(self, person: User) -> SafeString:
        """The time of the last sign-in; cards on a phone label it."""
        label = format_html('<span class="phone-label">{}:</span> ', gettext("Last sign-in"))
        return format_html("{}{}", label, moment(person.last_login) if person.last_login else gettext("Never"))

    @column(_("Signed in on"), css="sub", phone="3 right")
    def sessions(self, person: User) -> str:
        count: int = person.session_count  # type: ignore[attr-defined]
        return ngettext("%(n)s device", "%(n)s devices", count) % {"n": count} if count else ""


class SessionTable(Table[Session]):
    """A person's sessions; `current`: the key of the present one."""

    caption = _("Signed-in devices")

    def __init__(self, sessions: Iterable[Session], *, current: str | None) -> None:
        super().__init__(sessions)
        self.current = current
        self.facts = {session.pk: SessionStore().decode(session.session_data) for session in self.rows}

    def row_id(self, row: Model) -> str:
        """A name that does not reveal the key: a person with the key is signed in."""
        return f"session-{hashlib.sha256(str(row.pk).encode()).hexdigest()[:12]}"

    @column(_("Device"), phone="1 left")
    def device(self, session: Session) -> SafeString:
        return format_html(
            "{}{}",
            device_words(self.facts[session.pk].get(DEVICE, "")),
            format_html(' <span class="sub" data-current>{}</span>', gettext("this device"))
            if session.pk == self.current
            else "",
        )

    @column(_("Signed in"), css="sub", phone="1 right")
    def time(self, session: Session) -> SafeString:
        began = self.facts[session.pk].get(BEGAN)
        return moment(dt.datetime.fromtimestamp(began, dt.UTC) if began else None)


def _with_user_name(link: SafeString, person: User) -> SafeString:
    return format_html('{} <span class="sub mono">{}</span>', link, person.username)
