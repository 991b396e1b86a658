"""Tills as a list."""

from __future__ import annotations

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from core.tables import Table, column, row_link
from core.times import moment
from tills.models import Till
from tills.presenting import standing_badge


class TillTable(Table[Till]):
    """Tills, with the person there by PIN."""

    caption = _("Tills by name")

    @column(_("Name"), phone="1 left")
    def name(self, till: Till) -> SafeString:
        """How it is called; leads to its page."""
        return row_link(till.get_absolute_url(), till.name)

    @column(_("State"), phone="1 right")
    def state(self, till: Till) -> SafeString:
        """On, locked or switched off."""
        return standing_badge(till)

    @column(_("There by PIN"), phone="2 left")
    def person(self, till: Till) -> SafeString:
        """Who, if anybody; on a card with what it is."""
        label = format_html('<span class="phone-label">{}:</span> ', gettext("There by PIN"))
        return format_html("{}{}", label, till.held_by.shown_name if till.held_by else gettext("Nobody"))

    @column(_("Last active"), css="sub", phone="3 left")
    def time(self, till: Till) -> SafeString:
        """When somebody was there by PIN last; on a card with what it is."""
        label = format_html('<span class="phone-label">{}:</span> ', gettext("Last active"))
        return format_html("{}{}", label, moment(till.active_at) if till.active_at else gettext("Never"))
