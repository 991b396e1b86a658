"""A day's effect on the balance, in lines, and the words for how far the upstream's balance is explained."""

import datetime as dt
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from core.money import signed_rupiah
from core.times import clock
from drawers.presenting.shifts import CashOfDay
from ledger.filters import BILLS, PURCHASES
from ledger.models import Entry
from ledger.services import DayClosing
from reconciliation.presenting.books import Said
from reconciliation.services.days import ProviderDay, Standing, provider_day

_Words = str | Promise

# Icon and colour of each; the words stand beside them, so that colour is never the only sign.
_LOOKS = {
    Standing.BEFORE: ("clock", "plain"),
    Standing.WRONG: ("alert-octagon", "bad"),
    Standing.OPEN: ("alert-octagon", "bad"),
    Standing.EARLIER: ("alert-triangle", "warn"),
    Standing.TOPUP: ("cash", "warn"),
    Standing.DECIDED: ("clock", "plain"),
    Standing.NOT_FITTING: ("alert-triangle", "warn"),
    Standing.UNDER_WAY: ("clock", "plain"),
    Standing.WAITING: ("hourglass", "plain"),
    Standing.EXPLAINED: ("circle-check", "good"),
}
# The first sentence is enough alone; the second one gives the consequence.
_WORDS: dict[Standing, tuple[_Words, _Words]] = {
    Standing.BEFORE: (gettext_lazy("The books were not opened yet on this day."), ""),
    Standing.WRONG: (
        gettext_lazy("Our books of the provider's balance do not add up."),
        gettext_lazy("That must never happen. Keep the database as it is, and have somebody look into it."),
    ),
    Standing.OPEN: ("", gettext_lazy("No order explains it. It stays open until it is explained or decided.")),
    Standing.EARLIER: ("", gettext_lazy("It comes from a day before, and is not decided yet. This day adds nothing.")),
    Standing.TOPUP: ("", gettext_lazy("It looks like a top-up, and enters the books when somebody acknowledges it.")),
    Standing.DECIDED: (
        gettext_lazy("The provider's difference has been decided since."),
        gettext_lazy("At the last comparison of this day it was open still. Nothing is open any more."),
    ),
    Standing.NOT_FITTING: (
        gettext_lazy("The provider's balance does not fit the books so far."),
        gettext_lazy("The amount is final when the orders under way have ended."),
    ),
    Standing.UNDER_WAY: (
        gettext_lazy("The provider's balance is not compared to the end yet."),
        gettext_lazy("No difference so far. It is compared again when the open orders have ended."),
    ),
    Standing.WAITING: (
        gettext_lazy("The provider's balance of this day is not compared yet."),
        gettext_lazy("It is compared when it has been read and no order is in doubt."),
    ),
    Standing.EXPLAINED: (
        gettext_lazy("The provider's balance adds up."),
        gettext_lazy("It was compared with the books after this day. Every rupiah is explained."),
    ),
}


@dataclass(frozen=True)
class ClosingLine:
    """One line of a closing: name, words, the kind of its entries for the statement, their number, rupiah (signed)."""

    name: str
    words: str
    kind: str
    count: int
    amount: int


@dataclass(frozen=True, kw_only=True)
class ShownDay:
    """A day of the balance as its pages show it: its lines, and the facts about the upstream's balance."""

    facts: ProviderDay
    lines: list[ClosingLine]
    said: Said
    icon: str
    colour: str

    @property
    def closing(self) -> DayClosing:
        return self.facts.closing

    @property
    def is_off(self) -> bool:
        return self.facts.standing.is_off

    @property
    def is_clear(self) -> bool:
        """Whether the day is free of doubts: nothing is open now, and its last comparison agreed."""
        return not self.is_off and self.facts.standing != Standing.DECIDED


def shown_day(day: dt.date) -> ShownDay:
    """This day (Asia/Jakarta) of the balance."""
    facts = provider_day(day)
    icon, colour = _LOOKS[facts.standing]
    return ShownDay(facts=facts, lines=_lines(facts.closing), said=_said(facts), icon=icon, colour=colour)


def _said(facts: ProviderDay) -> Said:
    standing = facts.standing
    strong, text = (str(words) for words in _WORDS[standing])
    if not strong:
        amount = signed_rupiah(sum(difference.amount for difference in facts.differences))
        count = len(facts.differences)
        strong = ngettext(
            "The provider's balance has an open difference of %(amount)s.",
            "The provider's balance has %(count)s open differences, together %(amount)s.",
            count,
        ) % {"amount": amount, "count": count}
    if standing == Standing.EXPLAINED and not facts.is_compared and facts.run:
        text = _("It was compared with the books at %(time)s. Every rupiah was explained.")
        text %= {"time": clock(facts.run.at)}
    return Said(code=standing, strong=strong, text=text)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Whether cash and provider both add up (`both`), one is off (`off`), or one is not known yet (`open`)."""

    code: str
    strong: str
    text: str
    icon: str
    css: str


def verdict_of(cash: CashOfDay, provider: ShownDay) -> Verdict:
    """The sentence for both sides of a day."""
    if cash.code == "right" and provider.facts.standing == Standing.EXPLAINED:
        strong = _("The cash and the provider's balance both add up.")
        if provider.facts.is_running:
            strong = _("So far the cash and the provider's balance both add up.")
        return Verdict(code="both", strong=strong, text="", icon="circle-check", css="adds-up")
    text = f"{cash.words} {provider.said.strong}"
    if cash.is_off or provider.is_off:
        return Verdict(
            code="off", strong=_("This day does not add up."), text=text, icon="alert-triangle", css="note note-warn"
        )
    is_known = cash.code != "open" and provider.facts.standing not in {Standing.UNDER_WAY, Standing.WAITING}
    strong = "" if is_known else _("Whether both add up is not known yet.")
    return Verdict(code="open", strong=strong, text=text, icon="clock", css="note")


def _lines(closed: DayClosing) -> list[ClosingLine]:
    named = {
        "opened_with": (_("Books opened with"), Entry.Kind.OPENING),
        "purchases": (_("Purchases"), PURCHASES),
        "bills": (_("Bill payments"), BILLS),
        "refunds": (_("Refunds"), Entry.Kind.REFUND),
        "reversals": (_("Reversals"), Entry.Kind.REVERSAL),
        "top_ups": (_("Top-ups"), Entry.Kind.TOPUP),
        "adjustments": (_("Adjustments"), Entry.Kind.ADJUSTMENT),
    }
    return [
        ClosingLine(name=name, words=words, kind=kind, count=closed.counts[name], amount=getattr(closed, name))
        for name, (words, kind) in named.items()
        if name not in {"opened_with", "reversals"} or closed.counts[name]
    ]
