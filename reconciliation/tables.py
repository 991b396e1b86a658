"""Comparisons and differences as lists."""

from operator import attrgetter
from typing import Any, ClassVar

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy as _, ngettext, pgettext

from core.looks import badge
from core.money import rupiah, signed_rupiah
from core.numbers import masked_note, note_as_seen
from core.tables import Table, column, row_link, shortened
from core.times import clock, moment
from reconciliation.models import Difference, ReconciliationRun
from reconciliation.presenting import difference_words
from reconciliation.templatetags.differences import books_badge
from staff.models import User


class RunTable(Table[ReconciliationRun]):
    """Comparisons of the books with the upstream's balance."""

    caption = _("Comparisons with the provider, newest first")

    @column(_("Status"), phone="1 wide")
    def status(self, run: ReconciliationRun) -> SafeString:
        return books_badge(run.state)

    @column(_("Time"), phone="2 left")
    def time(self, run: ReconciliationRun) -> SafeString:
        """The time, as a link to the comparison."""
        return row_link(reverse("run_detail", args=[run.pk]), clock(run.at))

    @column(_("Provider balance"), css="num", phone="none")
    def reported(self, run: ReconciliationRun) -> str:
        return rupiah(run.reported)

    @column(_("By our books"), css="num", phone="none")
    def expected(self, run: ReconciliationRun) -> str:
        """The balance by our books."""
        return rupiah(run.expected)

    @column(_("Difference"), css="num strong", phone="2 right")
    def difference(self, run: ReconciliationRun) -> str:
        """Reported less expected."""
        return difference_words(run)

    @column(_("Why"), phone="3 wide")
    def note(self, run: ReconciliationRun) -> SafeString:
        """The reason for the run, and the number of orders that it waits for."""
        waits = ""
        if run.blocking:
            words = ngettext("waits for %(n)s order", "waits for %(n)s orders", len(run.blocking))
            waits = words % {"n": len(run.blocking)}
        return format_html('{} <span class="sub">{}</span>', run.get_trigger_display(), waits)


def _username(person: User | None) -> str:
    return person.username if person else ""


def _state_words(difference: Difference) -> Any:
    is_open = difference.state == Difference.State.OPEN
    return pgettext("difference", "Open") if is_open else gettext("Acknowledged")


class DifferenceTable(Table[Difference]):
    """Differences, each with the person who acknowledged it."""

    caption = _("Differences, newest first")
    export: ClassVar[dict[str, Any]] = {
        "found": attrgetter("found_at"),
        "status": attrgetter("state"),
        "kind": attrgetter("label"),
        "amount": attrgetter("amount"),
        "note": lambda difference: masked_note(difference.note),
        "acknowledged_by": lambda difference: _username(difference.acknowledged_by),
        "acknowledged": lambda difference: difference.acknowledged_at or "",
    }
    export_words: ClassVar = {"acknowledged_by": _("Acknowledged by")}
    export_shown: ClassVar = {
        "status": _state_words,
        "kind": attrgetter("shown_label"),
    }

    @column(_("Status"), phone="1 left", fields=("status",))
    def status(self, difference: Difference) -> SafeString:
        words = _state_words(difference)
        if difference.state == Difference.State.OPEN:
            return badge(("alert-triangle", "bad" if difference.amount < 0 else "warn"), words)
        return badge(("circle-check", "good"), words)

    @column(_("Kind"), phone="2 wide", fields=("kind",), stays=True)
    def kind(self, difference: Difference) -> SafeString:
        """Its likely kind; links to it."""
        return row_link(reverse("difference_detail", args=[difference.pk]), difference.shown_label)

    @column(_("Amount"), css="num strong", phone="1 right", fields=("amount",))
    def amount(self, difference: Difference) -> str:
        """Rupiah, signed."""
        return signed_rupiah(difference.amount)

    @column(_("Note"), phone="3 wide", fields=("note", "acknowledged_by"))
    def note(self, difference: Difference) -> SafeString:
        by = difference.acknowledged_by.shown_name if difference.acknowledged_by else ""
        return format_html('{} <span class="sub">{}</span>', shortened(note_as_seen(difference.note), 60), by)

    @column(_("Found"), phone="4 wide", fields=("found",))
    def time(self, difference: Difference) -> SafeString:
        return moment(difference.found_at)

    @column(_("Acknowledged"), phone="none", fields=("acknowledged",), is_extra=True)
    def acknowledged(self, difference: Difference) -> SafeString | str:
        """The time at which a person took it into the books."""
        return moment(difference.acknowledged_at) if difference.acknowledged_at else ""
