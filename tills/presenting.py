"""The state of a till, in words."""

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from core.looks import badge
from tills.events import CASH_DRAWER_OPENED, OPENS
from tills.models import DrawerOpening, Roll, Till, TillPrinter
from tills.printing import Line, pair, rule, text
from tills.services.guessing import seconds_locked

# The number of normal letters in a line; printer.js counts in the same way.
_COLUMNS = {Roll.MM58: 32, Roll.MM80: 48}


def standing_badge(till: Till) -> SafeString:
    """Icon, words and colour: on, PINs locked, or switched off."""
    if not till.is_on:
        return badge(("device-desktop-off", "off"), _("Switched off"))
    if seconds_locked(till):
        return badge(("lock", "bad"), _("PINs locked"))
    return badge(("device-desktop", "good"), _("On"))


def test_lines(printer: TillPrinter) -> list[Line]:
    """A test page: as wide as the paper, in each size, with special letters."""
    letters = _COLUMNS[Roll(printer.roll)]
    return [
        text(_("Printer test"), look="big", centred=True),
        text(printer.till.name, centred=True),
        rule(),
        pair(_("Paper"), printer.get_roll_display()),
        pair(_("Language of the printer"), printer.get_language_display()),
        pair(_("Letters (codepage)"), printer.get_codepage_display()),
        rule(),
        text("".join(str(n % 10) for n in range(1, letters + 1))),
        text(_("The numbers above fill one line, from edge to edge."), centred=True),
        pair(_("Normal"), "Rp1.234.567"),
        pair(_("Tall"), "Rp1.234.567", look="tall"),
        text("0812 3456", look="big", centred=True),
        text("é ü ñ ° ½", centred=True),
    ]


def opening_words(opening: DrawerOpening) -> str:
    """The words about an opening of a till's cash drawer, with the reason."""
    return f"{CASH_DRAWER_OPENED.words}: {OPENS[opening.cause.partition(' ')[0]]}"
