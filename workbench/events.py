"""People's acts on the evidence, as audit events."""

from django.utils.translation import gettext_lazy as _

from audit.events import Event

VERIFICATION_STARTED = Event("verification_started", _("Verification of the evidence started"))
