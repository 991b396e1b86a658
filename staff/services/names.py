"""The user name that a new person gets when the inviter types none."""

from __future__ import annotations

import re
import unicodedata

from staff.models import User

# A form of address ("Bu", "Pak") is not part of the user name.
_TITLES = {"bapak", "pak", "bu", "ibu", "mas", "mbak", "kak", "bang", "hj", "haji"}
_LONGEST = 100  # leaves room for a number, below the 150 of a user name


def proposed_user_name(full_name: str) -> str:
    """The first word of the name in plain small letters, with a number if somebody has it: "sari", "sari2".

    Empty where the name has no such word.
    """
    words = re.findall(r"[a-z0-9]+", unicodedata.normalize("NFKD", full_name).lower())
    stem = next((word for word in words if word not in _TITLES), "")[:_LONGEST]
    if not stem:
        return ""
    alike = User.objects.filter(username__istartswith=stem).values_list("username", flat=True)
    taken = {username.lower() for username in alike}
    numbered = (f"{stem}{number}" for number in range(2, len(taken) + 3))
    return next(name for name in (stem, *numbered) if name not in taken)
