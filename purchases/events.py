"""Acts on orders, as audit events."""

from django.utils.translation import gettext_lazy as _

from audit.events import Event

PRINTED = Event("printed", _("Printed"), about="order")
FULL_NUMBER_SEEN = Event("full_number_seen", _("Full number shown"), about="order")
