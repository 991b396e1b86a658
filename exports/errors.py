"""The reasons why no file is made, and no view saved."""

from core.errors import Refused


class TooManyRows(Refused):
    """A workbook cannot hold so many rows."""


class TooManyFiles(Refused):
    """This person has several files under way already."""


class TooManyViews(Refused):
    """This person has saved several views of the list already."""
