"""Why a step with a person's account is refused."""

from django.utils.translation import gettext as _

from core.errors import Refused


class NotAllowed(Refused):
    """This step is not for this person, or not with that one."""

    def __init__(self, reason: str) -> None:
        super().__init__(_words()[reason])
        self.reason = reason


class NameTaken(Refused):
    """Somebody has this user name already."""


class LinkRefused(Refused):
    """A link that opens nothing: "unknown", "used", "withdrawn" or "expired"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _words() -> dict[str, str]:
    return {
        "no_right": _("You may not manage staff."),
        "own_account": _("Nobody changes the own role or switches the own account off. Ask a colleague."),
        "above_own": _("This account has your role or more rights. Ask an owner to change it."),
        "role_above_own": _("You may give only roles below your own. Ask an owner."),
        "last_owner": _("This is the last active owner. Make somebody else an owner first."),
        "demo": _("This is a demo account: it stays off with a real upstream. Invite the person."),
        "switched_off": _("The account is switched off. Switch it on first."),
        "not_joined": _("This person has not chosen a password yet. Make a new invitation."),
    }
