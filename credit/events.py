"""Acts on customers' accounts, as audit events."""

from django.utils.translation import gettext_lazy as _

from audit.events import Event

CREDIT_CHANGED = Event("credit_changed", _("Tab of a customer changed"))
CREDIT_MOVED = Event("credit_moved", _("Tab moved by a merge"))
