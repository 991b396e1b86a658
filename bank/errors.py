"""The reasons why nothing was read or matched."""

from django.utils.translation import gettext as _

from core.errors import Refused


class BankRefused(Refused):
    """Nothing was written. `reason` is one of the keys below; `line`: the line of the file."""

    def __init__(self, reason: str, line: int = 0) -> None:
        self.reason = reason
        words = {
            "no_text": _(
                "This is no CSV file with day, text and amount in each row. Download the bank's statement as CSV."
            ),
            "no_rows": _("No row of this file has a day and an amount. Look at the columns."),
            "too_many": _("The file has too many rows. Take a shorter period."),
            "bad_day": _("Line %(line)s: the day cannot be read. Days are written as day, month, year."),
            "bad_amount": _("Line %(line)s: the amount cannot be read. Look at the columns."),
            "open_quote": _(
                "Line %(line)s: a quote is not closed, so the next rows cannot be read. Delete it, or close it."
            ),
            "known": _("This file was read before. Nothing was added."),
            "moved": _("Somebody else has changed this row meanwhile. Look at it again."),
            "gone": _("The file of this row was taken back meanwhile. Nothing was noted."),
            "back": _("This file was taken back before. Nothing was changed."),
            "taken": _("Another row of the bank is matched with this already."),
        }
        super().__init__(words[reason] % {"line": line})
