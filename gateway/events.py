"""What people do about our account at the upstream."""

from django.utils.translation import pgettext_lazy

from audit.events import Event

OPENED_AFTER_RESTORE = Event("opened_after_restore", pgettext_lazy("audit", "Shop opened after a restore"))
