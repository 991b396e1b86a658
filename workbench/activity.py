"""How the activity log shows files of itself, and of an order's full history."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from audit.facts import name_codes
from audit.subjects import Place, register
from core.rights import Right

name_codes(
    "list",
    proof=pgettext_lazy("audit", "proof of a full history"),
    story=pgettext_lazy("audit", "full history of an order"),
)
register(Place("file", _("Activity log"), "audit_list", Right.VIEW_AUDIT, keys="audit"))
