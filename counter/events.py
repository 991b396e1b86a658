"""Acts at the counter's page of a till, as audit events."""

from django.utils.translation import gettext_lazy as _

from audit.events import Event

FIRST_TILES_CHANGED = Event("first_tiles_changed", _("First tiles of a till changed"), about="till_name")
