"""Acts on batches, as audit events."""

from django.utils.translation import gettext_lazy as _

from audit.events import Event

BATCH_CHECKED = Event("batch_checked", _("Batch checked"), about="batch")
BATCH_CHANGED = Event("batch_changed", _("Rows of a batch corrected"), about="batch")
BATCH_RELEASED = Event("batch_released", _("Batch released"), about="batch")
BATCH_PAUSED = Event("batch_paused", _("Batch paused"), about="batch")
BATCH_RESUMED = Event("batch_resumed", _("Batch resumed"), about="batch")
BATCH_SETTLED = Event("batch_settled", _("Money of a batch settled"), about="batch")
BATCH_CANCELLED = Event("batch_cancelled", _("Rest of a batch cancelled"), about="batch")
