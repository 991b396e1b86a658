"""The lists of stored and of rejected callbacks."""

from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy as _, ngettext

from callbacks.models import Callback, CallbackRefusal, CallbackRefusalCount
from callbacks.presenting import result_words
from core.tables import Table, column, row_link
from core.times import day_words, moment


class CallbackTable(Table[Callback]):
    """Callbacks, without their bodies."""

    caption = _("Callbacks, newest first")

    @column(_("State"), phone="1 left")
    def status(self, callback: Callback) -> SafeString:
        return callback.badge

    @column(_("Event"), css="mono", phone="2 wide")
    def event(self, callback: Callback) -> SafeString:
        """Its event; links to the callback."""
        return row_link(reverse("callback_detail", args=[callback.pk]), callback.event or _("callback"))

    @column(_("ref_id"), css="mono", phone="3 wide")
    def ref(self, callback: Callback) -> str:
        return callback.ref_id or "–"

    @column(_("Result"), css="sub", phone="4 wide")
    def result(self, callback: Callback) -> SafeString:
        """Its result, the number of deliveries, and whether it may settle an order."""
        facts = [result_words(callback)] if callback.result or callback.fault else []
        if callback.repeats:
            facts.append(
                ngettext("%(n)s repeat delivery", "%(n)s repeat deliveries", callback.repeats) % {"n": callback.repeats}
            )
        if not callback.is_signed:
            facts.append(gettext("not signed: a hint only"))
        return format_html("{}", " · ".join(facts))

    @column(_("From"), css="mono sub", phone="none")
    def source(self, callback: Callback) -> str:
        return callback.source_address or "–"

    @column(_("Received"), phone="1 right")
    def time(self, callback: Callback) -> SafeString:
        return moment(callback.received_at)


class RefusalCountTable(Table[CallbackRefusalCount]):
    """The number of rejected callbacks, by day and reason."""

    caption = _("By day and reason")

    @column(_("Day"), css="nowrap", phone="1 left")
    def day(self, counted: CallbackRefusalCount) -> str:
        return day_words(counted.day)

    @column(_("Reason"), phone="2 wide")
    def reason(self, counted: CallbackRefusalCount) -> str:
        return counted.get_reason_display()

    @column(_("Count"), css="num", phone="1 right")
    def count(self, counted: CallbackRefusalCount) -> int:
        return counted.count


class RefusalTable(Table[CallbackRefusal]):
    """The last few rejected callbacks."""

    caption = _("The last few")

    @column(_("Reason"), phone="2 left")
    def reason(self, refusal: CallbackRefusal) -> str:
        return refusal.get_reason_display()

    @column(_("From"), css="mono", phone="1 left")
    def source(self, refusal: CallbackRefusal) -> str:
        return refusal.source_address or "–"

    @column(_("Bytes"), css="num", phone="2 right")
    def size(self, refusal: CallbackRefusal) -> int:
        return refusal.size

    @column(_("When"), phone="1 right")
    def time(self, refusal: CallbackRefusal) -> SafeString:
        return moment(refusal.at)
