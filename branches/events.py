"""Acts on branches, as audit events."""

from django.utils.translation import gettext_lazy as _

from audit.events import Event

BRANCH_ADDED = Event("branch_added", _("Branch added"), about="branch")
BRANCH_CHANGED = Event("branch_changed", _("Branch changed"), about="branch")
BRANCH_CLOSED = Event("branch_closed", _("Branch closed"), about="branch")
