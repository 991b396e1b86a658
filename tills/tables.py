"""Tills as a list, and the people who worked at one."""

from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy as _, pgettext, pgettext_lazy

from core.tables import Table, column, row_link
from core.times import moment
from tills.models import Till
from tills.presenting import standing_badge
from tills.services.sessions import Stay, person_there


class TillTable(Table[Till]):
    """Tills with `held_by__pin`, each with the person there by PIN."""

    caption = _("Tills by name")

    @column(_("Name"), phone="1 left")
    def name(self, till: Till) -> SafeString:
        """The till's name, which leads to its page."""
        return row_link(till.get_absolute_url(), till.name)

    @column(_("State"), phone="1 right")
    def state(self, till: Till) -> SafeString:
        return standing_badge(till)

    @column(_("There by PIN"), phone="2 left")
    def person(self, till: Till) -> SafeString:
        """The person there, if anybody; cards on a phone label it."""
        label = format_html('<span class="phone-label">{}:</span> ', gettext("There by PIN"))
        person = person_there(till)
        return format_html("{}{}", label, person.shown_name if person else gettext("Nobody"))

    @column(_("Last active"), css="sub", phone="3 left")
    def time(self, till: Till) -> SafeString:
        """The time of the last act by PIN; cards on a phone label it."""
        label = format_html('<span class="phone-label">{}:</span> ', gettext("Last active"))
        return format_html("{}{}", label, moment(till.active_at) if till.active_at else gettext("Never"))


class StayTable(Table[Any]):
    """The people who worked at a till by PIN; its rows are `Stay`s."""

    caption = _("Worked here by PIN")

    @column(_("Person"), phone="1 left")
    def person(self, stay: Stay) -> str:
        return stay.person.shown_name

    @column(_("From"), phone="2 left")
    def since(self, stay: Stay) -> SafeString:
        """The time when the PIN was typed; cards on a phone label it."""
        return format_html('<span class="phone-label">{}:</span> {}', gettext("From"), moment(stay.since))

    @column(pgettext_lazy("till", "Until"), phone="2 right")
    def until(self, stay: Stay) -> SafeString:
        """The time of the lock or of the next person's take-over; a dash before that. Cards on a phone label it."""
        label = format_html('<span class="phone-label">{}:</span> ', pgettext("till", "Until"))
        return format_html("{}{}", label, moment(stay.until) if stay.until else "–")
