"""The reasons why the counter's page of a till refuses its tiles."""

from django.utils.translation import gettext as _, ngettext

from core.errors import Refused


class TooManyTiles(Refused):
    """More first tiles than one page of tiles has."""

    def __init__(self, most: int) -> None:
        room = ngettext("There is room for %(n)s first tile.", "There is room for %(n)s first tiles.", most)
        then = _("Take one away first.")
        super().__init__(f"{room} {then}" % {"n": most})


class TillIsOff(Refused):
    """A till that is switched off has no counter any more."""

    def __init__(self) -> None:
        super().__init__(_("This till is switched off: nobody sells there."))
