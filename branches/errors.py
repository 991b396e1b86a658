"""The reasons why something was not done with a branch."""

from django.utils.translation import gettext_lazy as _

from core.errors import ForReason, OrderRefused


class BranchRefused(ForReason, OrderRefused):
    """Nothing was changed. `reason` is one of the keys below."""

    texts = {
        "closed": _("This branch is closed. Choose another one."),
        "name_taken": _("There is a branch with this name already."),
        "in_use": _("People, drawers or tills belong to this branch. Move them to another one first."),
        "waits": _("A sale of this branch waits for approval, or a batch of it is open. Decide or cancel it first."),
        "last": _("This is the last open branch. A shop has at least one."),
    }
