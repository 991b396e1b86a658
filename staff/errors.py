"""The reasons why a step with a person's account is refused."""

from django.conf import settings
from django.utils.translation import gettext as _, ngettext

from core.errors import Refused

_MINUTE = 60
SLOWED = "slowed"  # the code of an error in a form whose sender has to wait


class NotAllowed(Refused):
    """This person may not take this step, or not on that account."""

    def __init__(self, reason: str) -> None:
        super().__init__(_words()[reason])
        self.reason = reason


class FactorRefused(Refused):
    """The second factor is missing or does not count: `_factor_words` has the reasons."""

    def __init__(self, reason: str, *, wait: int = 0) -> None:
        super().__init__(_factor_words(wait)[reason])
        self.reason = reason
        self.wait = wait


class NameTaken(Refused):
    """Somebody has this user name already."""


class LinkRefused(Refused):
    """A link that opens nothing: "unknown", "used", "withdrawn" or "expired"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class OutsideRefused(Refused):
    """A person who came from the provider is refused: `_outside_words` has the reasons."""

    def __init__(self, reason: str, *, wait: int = 0) -> None:
        super().__init__(_outside_words(wait)[reason])
        self.reason = reason


def _outside_words(wait: int) -> dict[str, str]:
    name = {"name": settings.OIDC_NAME}
    return {
        "stale": _("The sign-in took too long, or began in another browser. Begin again."),
        "cancelled": _("The sign-in with %(name)s was cancelled.") % name,
        "provider": _("%(name)s cannot be used now. Try again later, or ask an owner.") % name,
        "no_role": _("%(name)s gives you no role in this shop. Ask the person who manages your account there.") % name,
        "no_name": _(
            "%(name)s sends no user name that can be used here. Ask the person who manages your account there."
        )
        % name,
        "name_taken": _("Somebody has your user name here already. Ask an owner to link the account."),
        "off": _("Your account is switched off. Ask a colleague who manages staff."),
        "slow": slowed_words(wait),
    }


def _words() -> dict[str, str]:
    return {
        "no_right": _("You may not manage staff."),
        "own_account": _("Nobody changes their own role or switches their own account off. Ask a colleague."),
        "above_own": _("This account has your role or more rights. Ask an owner to change it."),
        "other_branch": _("This person belongs to another branch than yours. Ask an owner."),
        "sees_all": _("This person sees every branch, and you only yours. Ask an owner for the link."),
        "role_above_own": _("You may give only roles below your own. Ask an owner."),
        "no_limits": _("You may not change limits."),
        "limit_above_own": _("You may not let others spend more than you may. Ask an owner."),
        "limits_later": _(
            "Limits and a usual drawer go with an invitation only where no second person approves the role, and only"
            " limits below the role's. Invite without them, then set them on the person's page."
        ),
        "no_roles": _("Only owners change what roles may do."),
        "right_above_own": _("You may not give a right that you do not have."),
        "last_owner": _("This is the last active owner. Make somebody else an owner first."),
        "owner_only": _("Only an owner resets a second factor."),
        "outside": _("This person signs in with %(name)s, which also says the role.") % {"name": settings.OIDC_NAME},
        "other_claim": _("%(name)s does not say this role of this person any more.") % {"name": settings.OIDC_NAME},
        "shift_open": _(
            "This person has a shift open at a drawer of another branch. Have it closed or handed over first."
        ),
        "owner_binds": _("Only an owner says whether a person sees one branch or all of them."),
        "owner_sees_all": _("An owner sees every branch. Give the person another role first."),
        "demo": _("This is a demo account: it stays off with a real provider. Invite the person."),
        "switched_off": _("The account is switched off. Switch it on first."),
        "no_link": _(
            "Nothing was withdrawn: the link was used, or ended before."
            " If somebody else used it, switch the account off."
        ),
        "not_joined": _("This person has not chosen a password yet. Make a new invitation."),
    }


def wait_words(seconds: int) -> str:
    """The time to wait in words: "20 seconds", "3 minutes"."""
    if seconds < _MINUTE * 2:
        return ngettext("%(n)s second", "%(n)s seconds", seconds) % {"n": seconds}
    minutes = -(-seconds // _MINUTE)
    return ngettext("%(n)s minute", "%(n)s minutes", minutes) % {"n": minutes}


def slowed_words(seconds: int) -> str:
    """The reason why a password was not checked."""
    return _("Too many wrong tries. Wait %(time)s, then try again.") % {"time": wait_words(seconds)}


def _factor_words(wait: int) -> dict[str, str]:
    return {
        "missing": _("Nothing was done. Type a code of your second factor, or use your passkey, and send it again."),
        "none": _("Nothing was done. This step takes a second factor: add one in your settings first."),
        "wrong": _("Nothing was done. The code is wrong: take the newest one of your authenticator app."),
        "used": _("Nothing was done. This code was used already: wait for the next one, at most 30 seconds."),
        "unreadable": _(
            "Nothing was done. The shop's key was changed and does not open your codes: have your second factors reset."
        ),
        "pin": _("Nothing was done. You are here by PIN: sign in with your password for this step."),
        "stale": _("Nothing was done. The passkey did not confirm this step. Open the page again and repeat it."),
        "outside": _("Nothing was done. Sign in with %(name)s, and then use your passkey.")
        % {"name": settings.OIDC_NAME},
        "fresh": _("Nothing was done. Sign out and in again; then do this within ten minutes."),
        "password": _("Nothing was done. The password is wrong."),
        "app_code": _("The app is not added yet: the code is wrong. Is the time of your phone right?"),
        "twice": _("You have an authenticator app already. Remove it first, or add a passkey."),
        "too_many": _("You have ten passkeys already. Remove one first."),
        "needed": _("Your rights take a second factor: add another one, then remove this one."),
        "slow": _("Nothing was done. Too many wrong codes: wait %(time)s.") % {"time": wait_words(wait)},
        "slow_password": _("Nothing was done. Too many wrong passwords: wait %(time)s.") % {"time": wait_words(wait)},
    }
