"""The reasons why something cannot be asked for, or decided, now."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from approvals.models import Approval
from core.errors import Refused


class ApprovalRefused(Refused):
    """Nothing was decided. `reason` is one of the keys below."""

    def __init__(self, reason: str, *, helpers: Sequence[str] = ()) -> None:
        """`helpers`: the names of people who may decide instead."""
        self.reason = reason
        words = {
            "own": _("Nobody approves what they asked for. A second person must."),
            "not_independent": _(
                "In the last 30 days one of you changed the other's account or made its access link, or somebody else"
                " could sign in as both of you. Another person must approve it."
            ),
            "no_right": _("You may not decide this."),
            "not_yours": _("Only the person who asked for it can withdraw it. Refuse it, with a reason."),
            "decided": _("This was decided before."),
            "no_reason": _("Write why you refuse it."),
            "own_refused": _("You asked for this yourself. Withdraw it instead."),
            "not_asker": _("You may not ask for this."),
            "unknown_act": _("This version does not know what was asked for. It can only be refused."),
        }
        ask = _("Ask %(names)s.") % {"names": ", ".join(helpers)} if helpers else ""
        super().__init__(f"{words[reason]} {ask}".strip())


class AlreadyAsked(Refused):
    """A request about the same waits already, with another content or by another person."""

    def __init__(self, approval: Approval) -> None:
        self.approval = approval
        super().__init__(_("Something else was asked for the same, and waits for approval. Wait for that first."))
