"""The user name that a new person gets when the inviter types none, and the people who have the same name already."""

import re
import unicodedata

from branches.seeing import narrowed
from staff.models import StaffQuerySet, User

# Forms of address, academic titles and the Balinese "Ni" are not part of the user name.
_TITLE = re.compile(
    "bapak|pak|bpk|tuan|tn|ibu|bu|nyonya|ny|nona|nn|sdr|sdri|mas|mbak|mba|mbakyu|kak|kakak|bang|abang|dik|adik|om|tante"
    "|cik|ci|cici|koh|ko|engkoh|haji|hajah|hajjah|hj|kh|kyai|kiai|ustadz|ustad|ustaz|ustadzah|ust|dr|drs|dra|ir|prof"
    "|ni|mr|mrs|ms"
)
_APOSTROPHES = re.compile("['`´‘’ʻʼʾʿ′＇]")
_LONGEST = 100  # leaves room for a number, below the 150 of a user name


def proposed_user_name(full_name: str) -> str:
    """The first word of the name in plain small letters, with a number if somebody has it: "sari", "sari2".

    Titles and initials are skipped, but a name of initials alone gives the first one. Empty where the name has no word
    in Latin letters.
    """
    words = [word for word in _plain_words(full_name) if not _TITLE.fullmatch(word)]
    stem = next((word for word in words if len(word) > 1), words[0] if words else "")[:_LONGEST]
    if not stem:
        return ""
    alike = User.objects.filter(username__istartswith=stem).values_list("username", flat=True)
    taken = {username.lower() for username in alike}
    numbered = (f"{stem}{number}" for number in range(2, len(taken) + 3))
    return next(name for name in (stem, *numbered) if name not in taken)


def namesakes_of(full_name: str, *, but: str = "") -> StaffQuerySet:
    """The people of this name whom the reader sees, without the one with the user name `but`; by user name."""
    same: StaffQuerySet = User.objects.filter(first_name__iexact=" ".join(full_name.split()), last_name="")
    return narrowed(same.exclude(username__iexact=but)).order_by("username")


def _plain_words(full_name: str) -> list[str]:
    """The words in small letters a–z and digits: "Désirée Nu'man" gives "desiree" and "numan"."""
    decomposed = unicodedata.normalize("NFKD", _APOSTROPHES.sub("", full_name)).casefold()
    letters = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    plain = (re.sub(r"[^a-z0-9]", "", word) for word in re.findall(r"[^\W_]+", letters))
    return [word for word in plain if word]
