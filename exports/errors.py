"""Why no file is made."""

from core.errors import Refused


class TooManyRows(Refused):
    """A workbook cannot hold so many rows."""


class TooManyFiles(Refused):
    """This person has several files under way already."""
