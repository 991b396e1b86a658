"""Hiding alerts, and what is sent where, as audit events."""

from django.utils.translation import gettext_lazy as _

from audit.events import Event

ALERT_SNOOZED = Event("alert_snoozed", _("Alert hidden for oneself"), about="alert")
ALERT_SHOWN_AGAIN = Event("alert_shown_again", _("Hidden alert shown again"), about="alert")
ALERT_WAY_ADDED = Event("alert_way_added", _("Way of alerts added"), about="alert_way")
ALERT_WAY_REMOVED = Event("alert_way_removed", _("Way of alerts taken away"), about="alert_way")
RESULTS_CHOSEN = Event("results_chosen", _("Results to be sent chosen"), about="username")
