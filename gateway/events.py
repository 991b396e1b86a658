"""People's acts on our account at the upstream, as audit events."""

from django.utils.translation import pgettext_lazy

from audit.events import Event

OPENED_AFTER_RESTORE = Event("opened_after_restore", pgettext_lazy("audit", "Shop opened after a restore"))
