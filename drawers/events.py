"""Acts on drawers, refunds and days, as audit events."""

from django.utils.translation import gettext_lazy as _

from audit.events import Event

DRAWER_OPENED_OTHERWISE = Event("drawer_opened_otherwise", _("Drawer opened with a different amount"))
DRAWER_TAKEN_OVER = Event("drawer_taken_over", _("Drawer taken over"))
DRAWER_DIFFERENCE = Event("drawer_difference", _("Drawer closed with a large difference"))
COUNT_CORRECTED = Event("count_corrected", _("Closing count corrected"))
OPENING_EXPLAINED = Event("opening_explained", _("Reason for an opening difference written later"))
CLOSING_EXPLAINED = Event("closing_explained", _("Reason for a closing difference written later"))
GIVEN_BACK = Event("given_back", _("Money given back to a customer"), about="order")
PAYMENT_CORRECTED = Event("payment_corrected", _("Payment corrected"), about="order")
USUAL_DRAWER_CHANGED = Event("usual_drawer_changed", _("Usual drawer changed"), about="username")
DAY_SIGNED = Event("day_signed", _("Closing of a day signed"), about="day")
CREDIT_PAID_OUT = Event("credit_paid_out", _("Credit paid out to a customer"))
