"""The reasons why no file is made, and no view saved."""

from core.errors import Refused


class TooManyRows(Refused):
    """A workbook cannot hold this many rows."""


class TooManyFiles(Refused):
    """This person already has several files under way."""


class TooManyViews(Refused):
    """This person has saved several views of the list already."""
