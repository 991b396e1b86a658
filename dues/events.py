"""Acts on followed numbers, as audit events."""

from django.utils.translation import gettext_lazy as _

from audit.events import Event

NUMBER_FOLLOWED = Event("number_followed", _("Bill followed each month"))
NUMBER_KEPT = Event("number_kept", _("Unpaid bill still followed"))
NUMBER_STOPPED = Event("number_stopped", _("Bill no longer followed"))
