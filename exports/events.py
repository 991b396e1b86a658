"""Files, as audit events."""

from django.utils.translation import gettext_lazy as _

from audit.events import Event

EXPORT_MADE = Event("export_made", _("File exported"), about="file")
