"""Acts on tills and PINs, as audit events."""

from django.utils.translation import gettext_lazy as _, pgettext_lazy

from audit.events import Event
from staff.events import REFUSALS

#: The reasons why a cash drawer opens.
OPENS = {
    "sale": pgettext_lazy("audit", "cash sale"),
    "refund": pgettext_lazy("audit", "money given back in cash"),
    "opened": pgettext_lazy("audit", "shift begun"),
    "closed": pgettext_lazy("audit", "shift ended"),
    "paid_in": pgettext_lazy("audit", "cash paid in"),
    "paid_out": pgettext_lazy("audit", "cash paid out"),
    "credit": pgettext_lazy("audit", "tab paid in cash"),
    "credit_out": pgettext_lazy("audit", "credit paid out in cash"),
}

TILL_ENROLLED = Event("till_enrolled", _("Till enrolled"), about="till_name")
TILL_CODE_MADE = Event("till_code_made", _("Code for a till made"), about="till_name")
TILL_SWITCHED_OFF = Event("till_switched_off", _("Till switched off"), about="till_name")
UNLOCKED = Event("unlocked", _("Unlocked"), about="till_name")
PIN_SET = Event("pin_set", _("PIN set"), about="username")
PIN_REMOVED = Event("pin_removed", _("PIN removed"), about="username")
PIN_SIGN_IN = Event("pin_sign_in", _("Signed in by PIN"), about="till_name")
PIN_FAILED = Event("pin_failed", _("Wrong PIN"), about="username")
PASSWORD_REFUSED = Event("password_refused", _("Password refused"), about="username", reasons=REFUSALS)
PIN_LOCKED = Event("pin_locked", _("PINs of a till locked"), about="till_name")
CASH_DRAWER_OPENED = Event("cash_drawer_opened", _("Cash drawer opened"), about="till_name", reasons=OPENS)
