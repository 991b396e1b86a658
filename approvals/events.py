"""Approvals as audit events: requests and decisions."""

from django.utils.translation import gettext_lazy as _

from audit.events import Event

APPROVAL_ASKED = Event("approval_asked", _("Approval requested"))
APPROVED = Event("approved", _("Approved"))
REFUSED = Event("refused", _("Refused"))
EXPIRED = Event("expired", _("Request expired"))
APPROVAL_WITHDRAWN = Event("approval_withdrawn", _("Request withdrawn"))
APPROVAL_VOID = Event("approval_void", _("Request void"))
