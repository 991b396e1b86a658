"""The rule for passwords: long enough, and not easy to guess.

The rule is in this room because people try names of the shop first, and the room `staff` does not know the shop.
"""

import re
from threading import Lock

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

from shop.services import shop_name
from staff.models import User
from staff.services.factors import has_factor

ALONE, WITH_FACTOR = 12, 8
# On zxcvbn's scale of 0 to 4: more than a hundred million guesses
_SCORE = 3
# Characters; zxcvbn refuses longer passwords, because they would take long
_MEASURED = 72
# Words that people of such a shop choose, and that are missing in English lists
_NEAR = (
    *("toko", "warung", "konter", "kasir", "pulsa", "token", "listrik", "tagihan", "kuota", "paket", "uang", "laci"),
    *("rahasia", "sandi", "masuk", "indonesia", "jakarta", "bismillah", "alhamdulillah", "sayang", "cinta"),
    *("telkomsel", "indosat", "merdeka", "garuda", "cashier", "owner", "admin", "supervisor", "demo"),
)
_BETWEEN = re.compile(r"[\W_]+")
# zxcvbn keeps the words of one call where all threads read them
_one_at_a_time = Lock()


class PasswordRules:
    """A password validator for Django: checks the length, and by zxcvbn how many guesses the password takes."""

    def validate(self, password: str, user: User | None = None) -> None:
        """Raise `ValidationError` with the code "password_too_short" or "password_guessable"."""
        least = WITH_FACTOR if user is not None and has_factor(user) else ALONE
        if len(password) < least:
            words = _("At least %(least)s characters, please.") % {"least": least}
            raise ValidationError(words, code="password_too_short")
        if _score(password, user) < _SCORE:
            words = _("This password is easy to guess. Take several words that do not belong together.")
            raise ValidationError(words, code="password_guessable")

    def get_help_text(self) -> str:
        """The hint below the field."""
        words = _("At least %(alone)s characters; %(least)s once you have a second factor. Several words are best.")
        return words % {"alone": ALONE, "least": WITH_FACTOR}


def _score(password: str, user: User | None) -> int:
    from zxcvbn import zxcvbn  # noqa: PLC0415 - 15 MB, which only a process that checks a password needs

    names = [shop_name()]
    if user is not None:
        names += [user.username, user.first_name, user.last_name, user.email]
    words = [word for name in names for word in (*_BETWEEN.split(name), _BETWEEN.sub("", name)) if word]
    # signs between known words hide the words from zxcvbn, but not from people
    spellings = {password[:_MEASURED], _BETWEEN.sub("", password)[:_MEASURED] or password[:_MEASURED]}
    with _one_at_a_time:
        return min(int(zxcvbn(spelling, user_inputs=[*words, *_NEAR])["score"]) for spelling in spellings)
