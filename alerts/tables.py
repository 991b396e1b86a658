"""Alerts as a list."""

from collections.abc import Iterable

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _, pgettext

from alerts.kinds import in_words
from alerts.models import Alert
from core.looks import badge
from core.tables import Table, column, row_link
from core.times import moment
from staff.models import User


class AlertTable(Table[Alert]):
    """Alerts with their `notices`, in words for this person."""

    caption = _("Alerts, newest first")

    def __init__(self, alerts: Iterable[Alert], *, person: User) -> None:
        super().__init__(alerts)
        self.person = person

    @column(_("Status"), phone="1 left")
    def status(self, alert: Alert) -> SafeString:
        """The severity, or that the alert has ended."""
        if alert.closed_at:
            return badge(("circle-check", "good"), pgettext("alert", "Over"))
        return badge(alert.look, alert.get_severity_display())

    @column(_("What"), phone="2 wide")
    def what(self, alert: Alert) -> SafeString:
        """The alert's words, as a link to its next step."""
        words = in_words(alert, self.person)
        title = row_link(words.url, words.title) if words.url else format_html("<strong>{}</strong>", words.title)
        step = "" if alert.closed_at else words.next_step
        return format_html('{}<div class="sub">{} {}</div>', title, words.facts, step)

    @column(_("Notified"), css="sub", phone="3 wide")
    def notified(self, alert: Alert) -> SafeString:
        """The time and the outcome of the last attempt on each way."""
        return format_html_join(
            "",
            '<div>{}: {} <span class="is-short">{}</span></div>',
            ((way.service, moment(way.last_notified_at), way.get_fault_display()) for way in alert.notices.all()),
        )

    @column(_("Since"), phone="1 right")
    def time(self, alert: Alert) -> SafeString:
        closed = (
            format_html('<div class="sub">{} {}</div>', _("until"), moment(alert.closed_at)) if alert.closed_at else ""
        )
        return format_html("{}{}", moment(alert.opened_at), closed)
