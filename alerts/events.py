"""Hiding alerts, as audit events."""

from django.utils.translation import gettext_lazy as _

from audit.events import Event

ALERT_SNOOZED = Event("alert_snoozed", _("Alert hidden for oneself"), about="alert")
ALERT_SHOWN_AGAIN = Event("alert_shown_again", _("Hidden alert shown again"), about="alert")
RESULTS_CHOSEN = Event("results_chosen", _("Results to be sent chosen"), about="username")
