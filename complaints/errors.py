"""The reasons why nothing was done about a complaint."""

from django.utils.translation import gettext_lazy as _

from core.errors import ForReason


class ComplaintRefused(ForReason):
    """Nothing was written. `reason` is one of the keys below."""

    texts = {
        "no_right": _("You may not do this with complaints."),
        "no_words": _("Write what the customer says, or what you have done."),
        "open_already": _("There is an open complaint about this order already."),
        "moved": _("Somebody else has changed this complaint meanwhile. Look at it again."),
    }
