"""The reasons why a way of alerts is not added."""

from django.utils.translation import gettext_lazy as _

from core.errors import ForReason


class WayRefused(ForReason):
    """Nothing was added. `reason` is one of the keys below."""

    texts = {
        "not_understood": _("Nobody is reached so. Look at each field: one letter may be missing."),
        "inside": _(
            "This address leads into the own network. Only the person who runs the server can set such a way"
            " (ALERT_URLS in the settings)."
        ),
        "no_host": _("There is no server with this name. Look at it again, letter by letter."),
        "known": _("This way is there already."),
        "too_many": _("There are enough ways. Take one away first."),
        "failed": _("The test message was refused, so nothing was added. Look at each field, then try again."),
    }
