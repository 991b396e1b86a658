"""Acts on accounts, as audit events."""

from django.utils.translation import gettext_lazy as _, pgettext_lazy

from audit.events import Event

#: The reasons why a try was refused.
REFUSALS = {
    "name_taken": pgettext_lazy("audit", "somebody has the name already"),
    "no_name": pgettext_lazy("audit", "no name that can be used"),
    "no_role": pgettext_lazy("audit", "no role in this shop"),
    "off": pgettext_lazy("audit", "account switched off"),
    "password": pgettext_lazy("audit", "wrong password"),
    "provider": pgettext_lazy("audit", "the provider did not answer"),
    "slow": pgettext_lazy("audit", "too many wrong codes"),
    "slow_password": pgettext_lazy("audit", "too many wrong passwords"),
    "stale": pgettext_lazy("audit", "another step was confirmed"),
    "unreadable": pgettext_lazy("audit", "made with another key of the shop"),
    "used": pgettext_lazy("audit", "code used already"),
    "wrong": pgettext_lazy("audit", "wrong code"),
}

SIGN_IN = Event("sign_in", _("Signed in"))
SIGN_IN_FAILED = Event("sign_in_failed", _("Sign-in failed"), about="username", reasons=REFUSALS)
SIGN_OUT = Event("sign_out", _("Signed out"))
SESSIONS_ENDED = Event("sessions_ended", _("Sessions ended"), about="username")
LOCKED = Event("locked", _("Locked"), about="username")
OUTSIDE_LINKED = Event("outside_linked", _("Sign-in provider linked"), about="username")
PASSWORD_CHANGED = Event("password_changed", _("Password changed"), about="username")
STAFF_INVITED = Event("staff_invited", _("Person invited"), about="username")
STAFF_SWITCHED_OFF = Event("staff_switched_off", _("Account switched off"), about="username")
STAFF_SWITCHED_ON = Event("staff_switched_on", _("Account switched on"), about="username")
LINK_MADE = Event("link_made", _("Access link made"), about="username")
LINK_USED = Event("link_used", _("Access link used"), about="username")
LINK_WITHDRAWN = Event("link_withdrawn", _("Access link withdrawn"), about="username")
ROLE_CHANGED = Event("role_changed", _("Role changed"), about="username")
STAFF_MOVED = Event("staff_moved", _("Person moved to another branch"), about="username")
STAFF_BOUND = Event("staff_bound", _("Person sees one branch, or all"), about="username")
ROLE_EDITED = Event("role_edited", _("Rights of a role changed"), about="role")
LIMIT_CHANGED = Event("limit_changed", _("Limit changed"), about="username")
FACTOR_ADDED = Event("factor_added", _("Second factor added"), about="username")
FACTOR_REMOVED = Event("factor_removed", _("Second factor removed"), about="username")
FACTOR_USED = Event("factor_used", _("Second factor used"))
FACTOR_FAILED = Event("factor_failed", _("Second factor refused"), reasons=REFUSALS)
BREAK_GLASS_USED = Event("break_glass_used", _("Emergency account used"))
