"""The reasons why a till refuses a PIN or a code."""

from django.utils.translation import gettext as _, ngettext

from core.errors import Refused
from staff.errors import wait_words


class CodeRefused(Refused):
    """A code that enrols nothing: "unknown", "used", "expired" or "slow"."""

    def __init__(self, reason: str, *, wait: int = 0) -> None:
        words = {
            "unknown": _("This code is wrong. Type it as it stands on the page where it was made."),
            "used": _("This code was used already. Have a new one made."),
            "expired": _("This code has expired. Have a new one made."),
            "slow": _("Too many wrong codes: wait %(time)s.") % {"time": wait_words(wait)},
        }
        super().__init__(words[reason])
        self.reason = reason
        self.wait = wait


class WrongPin(Refused):
    """The PIN is not this person's. `left`: the number of tries that this till still has."""

    def __init__(self, left: int) -> None:
        tries = ngettext("%(n)s try is left.", "%(n)s tries are left.", left) % {"n": left}
        wrong = _("Wrong PIN.")
        super().__init__(f"{wrong} {tries}")
        self.left = left


class PinRests(Refused):
    """The person's PIN does not count now: the last sign-in with the provider is too old, or there is no provider."""

    def __init__(self) -> None:
        super().__init__(_("This PIN does not count now. Its person signs in once without it, then it counts again."))


class PinsLocked(Refused):
    """For `wait` seconds no PIN counts at this till, or this person's PIN counts nowhere; the PIN was not checked."""

    def __init__(self, wait: int, *, is_person: bool = False) -> None:
        words = _("Too many wrong PINs at this till. Wait %(time)s, or sign in with a password.")
        if is_person:
            words = _("Too many wrong PINs of this person. Wait %(time)s, or sign in with a password.")
        super().__init__(words % {"time": wait_words(wait)})
        self.wait = wait


class TillElsewhere(Refused):
    """The person is bound to another branch than the till's."""

    def __init__(self) -> None:
        super().__init__(_("You sell in another branch only: go to a till of that branch."))


class TillOff(Refused):
    """This browser is not a till, or not any more."""

    def __init__(self) -> None:
        super().__init__(_("This browser is not a till any more. Have it enrolled again."))


class TillNameTaken(Refused):
    """A till has this name already."""

    def __init__(self) -> None:
        super().__init__(_("There is a till with this name already."))
