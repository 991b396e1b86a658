"""Shows batches in the activity log."""

from django.utils.translation import gettext_lazy as _, pgettext_lazy

from audit.facts import Fact, name_facts
from audit.subjects import Subject, register
from core.rights import Right

_STEPS = {
    "change": _("corrected"),
    "leave_out": _("left out"),
    "take_in": _("taken in"),
    "meant": _("meant a second time"),
    "product": _("one product for all"),
    "tick": _("ticked, or no longer"),
    "ask_again": _("checked again by the biller"),
}

name_facts(
    step=Fact(pgettext_lazy("audit", "Rows were"), lambda step: str(_STEPS.get(step, step))),
)
register(
    Subject("batch", pgettext_lazy("audit", "Batch no. %(number)s"), "batch_detail", Right.VIEW_PRODUCT, Right.BUY),
)
