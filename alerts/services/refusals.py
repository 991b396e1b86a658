"""The reason why a service rejected a message, in words that reveal nothing of its address."""

import re
from collections.abc import Container

from django.utils.functional import Promise, lazy
from django.utils.translation import gettext as _, gettext_lazy

# The answer of a server in apprise's records: of HTTP "error=404", of SMTP "(535, b'…')".
_ANSWER = re.compile(r"error=(\d{3})\b|\((\d{3}), b")
# What the answers of HTTP and SMTP mean.
_MEANINGS: tuple[tuple[Container[int], Promise], ...] = (
    (
        {401, 403, 530, 534, 535, 538},
        gettext_lazy("Access was refused (%(code)s). Check the token or the password."),
    ),
    (
        {400, 422, 550, 551, 553, 554},
        gettext_lazy("The receiver was refused (%(code)s). Check the chat, channel or mailbox."),
    ),
    (
        {404, 405, 410},
        gettext_lazy("Nothing is at this address (%(code)s). Check the token or the address, letter by letter."),
    ),
    (
        range(300, 400),
        gettext_lazy("The address leads elsewhere (%(code)s). Add this way again with the final address."),
    ),
    (
        {408, 421, 425, 429, 450, 451, 452, 454, *range(500, 520)},
        gettext_lazy("The service cannot take messages now (%(code)s). Try again in a few minutes."),
    ),
)

#: The words for a server that does not answer at all, or has no address.
NO_CONNECTION = gettext_lazy(
    "No connection to the server. Check its name and port, and whether this machine reaches the Internet."
)


def _why_refused(records: list[str]) -> str:
    text = "\n".join(records)
    if answers := _ANSWER.findall(text):
        code = int("".join(answers[-1]))
        other = gettext_lazy("The message was refused (%(code)s). Check this way.")
        return str(next((words for codes, words in _MEANINGS if code in codes), other)) % {"code": code}
    if "connection error" in text.lower():
        return str(NO_CONNECTION)
    return _("It was not sent. Check this way.")


#: What happened and what to do, from apprise's records of one failed message; it quotes none of them. Translated where
#: it is shown.
why_refused = lazy(_why_refused, str)
