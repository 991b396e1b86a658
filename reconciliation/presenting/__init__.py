"""The words of pages about the books and differences (`books`), and about a day's effect on the balance (`days`)."""

from reconciliation.presenting.books import (
    Result,
    difference_words,
    open_questions,
    result_message,
    said_of_books,
    shown_difference,
    shown_from,
)
from reconciliation.presenting.days import ShownDay, Verdict, shown_day, verdict_of
