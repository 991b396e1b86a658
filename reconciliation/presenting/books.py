"""The words of pages about the books and about differences."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _, gettext_lazy

from core.money import rupiah, signed_rupiah
from core.times import clock
from core.together import read_together
from gateway.models import Exchange
from ledger.models import Flaw
from ledger.presenting import Funds
from reconciliation.models import Adjustment, Difference, ExpectedTopUp, ReconciliationRun
from reconciliation.services import Position

Label, Result, Why = Difference.Label, ReconciliationRun.Result, Difference.Why

# For each code: the first, strong sentence, and the second one.
_AS_THEY_END = gettext_lazy(
    "By how much is not known yet: between %(least)s and %(most)s, as they end. They are polled first."
)
_OF_BOOKS = {
    "flaw": (
        gettext_lazy("The books are wrong by %(amount)s."),
        gettext_lazy("Change nothing in the database. Have the person who runs the server examine it."),
    ),
    Result.BALANCED: (gettext_lazy("It adds up: our books explain every rupiah of the provider's balance."), ""),
    Result.TOPUP: (
        gettext_lazy("It differs by %(amount)s: the provider holds more than our orders explain."),
        gettext_lazy("That is usually a top-up: acknowledge it below."),
    ),
    Result.UNEXPLAINED: (
        gettext_lazy("It differs by %(amount)s: something other than our orders moved the balance."),
        gettext_lazy("See below what may be behind it and what to do."),
    ),
    "outweighed": (
        gettext_lazy("It does not add up: several differences outweigh each other."),
        gettext_lazy("See below what may be behind it and what to do."),
    ),
    Result.PROVISIONAL: (
        "",
        gettext_lazy("No difference so far. It is compared again when the open orders have ended."),
    ),
    "not_explained_yet": (
        gettext_lazy("%(amount)s is not explained so far, whatever becomes of the orders under way."),
        gettext_lazy("The amount is final when they have ended. They are polled first."),
    ),
    "sign_not_known": (
        gettext_lazy("The balance does not fit the books, whatever becomes of the orders under way."),
        _AS_THEY_END,
    ),
    "at_least": (
        gettext_lazy("At least %(amount)s is not explained so far, whatever becomes of the orders under way."),
        _AS_THEY_END,
    ),
    "no_reading": ("", gettext_lazy("The provider has not reported its balance yet.")),
    "not_open": (
        "",
        gettext_lazy(
            "The books open with the first balance that is read while no order is in doubt. Until then nothing is "
            "compared, and no order is refused."
        ),
    ),
    Result.WAITING: (
        "",
        gettext_lazy("Too many orders are under way to say anything now. It is compared when some of them have ended."),
    ),
}
_OF_DIFFERENCES = {
    Label.TOPUP: (
        "",
        gettext_lazy(
            "%(amount)s came in that no order explains. It can be spent already. It enters the books when somebody "
            "acknowledges it."
        ),
    ),
    Label.UNREPORTED_REFUND: (
        gettext_lazy("%(amount)s came back for an order that has not failed."),
        gettext_lazy(
            "If the provider took the order back, propose on the order's page that it was reversed. This difference "
            "closes by itself then. If it is a top-up, acknowledge it."
        ),
    ),
    Label.DOUBLE_REFUND: (
        gettext_lazy("The provider holds %(amount)s too much."),
        gettext_lazy(
            "It looks like a refund that came twice. Ask the provider, which may take the money back. Then acknowledge "
            "it with what they said."
        ),
    ),
    Label.LATE_REFUND: (
        gettext_lazy("The refund that was missing has come."),
        gettext_lazy("The books were adjusted for it before. Acknowledge it, and the opposite entry is posted."),
    ),
    "late_refund_proposed": (
        gettext_lazy("The refund that was missing has come."),
        gettext_lazy(
            "An adjustment for it was proposed before. Decline that, and both differences close by themselves. If it "
            "is approved, acknowledge this one."
        ),
    ),
    Label.ADJUSTED_BEFORE: (
        gettext_lazy("The books were adjusted for an order that has its own entry now."),
        gettext_lazy("Acknowledge it, and the opposite of the adjustment is posted."),
    ),
    Label.MISSING_REFUND: (
        gettext_lazy("A refund of %(amount)s seems not to have come."),
        gettext_lazy("Ask the provider with the ref_id below. If it comes late, this closes by itself."),
    ),
    "missing_refund_came": (
        gettext_lazy("A refund of %(amount)s seems not to have come."),
        gettext_lazy("It has come meanwhile. Decline the proposal, and both differences close by themselves."),
    ),
    Label.UNEXPLAINED: (
        gettext_lazy("%(amount)s left the account without an order."),
        gettext_lazy(
            "Find out who spends from the provider's dashboard or with its credentials, and ask the provider about "
            "that time. Then propose an adjustment."
        ),
    ),
    "perhaps_charged": (
        gettext_lazy("%(amount)s left the account without an order."),
        gettext_lazy(
            "An order below may have been charged. Ask the provider about it. Once it is decided, this closes by "
            "itself. If it was somebody else, propose an adjustment."
        ),
    ),
    "made_good": ("", gettext_lazy("Closed by itself: the opposite difference makes it good.")),
    "explained": ("", gettext_lazy("Closed by itself: order %(ref_id)s explains it.")),
    "explained_in_part": (
        "",
        gettext_lazy("Closed by itself: order %(ref_id)s explains a part. The rest is a difference of its own."),
    ),
    "announced": ("", gettext_lazy("A top-up that %(name)s had announced. It was acknowledged by itself.")),
    "acknowledged": ("", ""),
}


@dataclass(frozen=True, kw_only=True)
class Said:
    """A few sentences, the first one strong. `code` names them; `see`: the difference that they lead to."""

    code: str
    strong: str
    text: str
    see: Difference | None = None


@dataclass(frozen=True)
class ShownDifference:
    """A difference with the proposals about it."""

    difference: Difference
    adjustments: list[Adjustment]
    expected: ExpectedTopUp | None

    @property
    def proposed(self) -> Adjustment | None:
        """The adjustment that waits for a second person."""
        return next((adjustment for adjustment in self.adjustments if adjustment.decided_at is None), None)

    @property
    def ref_ids(self) -> list[str]:
        """The orders that may be behind it."""
        return [candidate["ref_id"] for candidate in self.difference.candidates]

    @property
    def said(self) -> Said:
        """Its meaning and the next step, or how it was closed."""
        is_open = self.difference.state == Difference.State.OPEN
        code, see = _open_code(self.difference) if is_open else _closed_code(self.difference, self.expected)
        facts = {
            "amount": rupiah(abs(self.difference.amount)),
            "ref_id": self.difference.explained_by,
            "name": self.expected and self.expected.announced_by.shown_name,
        }
        strong, text = (str(words) for words in _OF_DIFFERENCES[code])
        return Said(code=code, strong=strong % facts, text=text % facts, see=see)


def shown_difference(pk: int) -> ShownDifference | None:
    """This difference, if there is one."""
    shown = shown_from(*read_together(*_questions(Q(pk=pk), Q(difference=pk))))
    return shown[0] if shown else None


def open_questions() -> list[QuerySet[Any]]:
    """The queries for all open differences, newest first; `shown_from` takes the answers."""
    state = Difference.State.OPEN
    return _questions(Q(state=state), Q(difference__state=state))


def _questions(which: Q, of_which: Q) -> list[QuerySet[Any]]:
    others = ("closed_with", "rest_of", "rest", "makes_good", "made_good_by")
    differences = Difference.objects.select_related(
        *others, "acknowledged_by", "entry", "explained_by", "expected__announced_by"
    )
    adjustments = Adjustment.objects.select_related("proposed_by", "approved_by", "declined_by")
    return [differences.filter(which)[:50], adjustments.filter(of_which)]


def shown_from(differences: list[Difference], adjustments: list[Adjustment]) -> list[ShownDifference]:
    """The differences, each with its adjustments."""
    return [
        ShownDifference(
            difference=difference,
            adjustments=[adjustment for adjustment in adjustments if adjustment.difference_id == difference.pk],
            expected=getattr(difference, "expected", None),
        )
        for difference in differences
    ]


def _closed_code(difference: Difference, expected: ExpectedTopUp | None) -> tuple[str, Difference | None]:
    if difference.closed_with:
        return "made_good", difference.closed_with
    if difference.explained_by:
        rest = getattr(difference, "rest", None)
        return "explained_in_part" if rest else "explained", rest
    return "announced" if expected else "acknowledged", None


def _open_code(difference: Difference) -> tuple[str, Difference | None]:
    label, former, late = Label(difference.label), difference.makes_good, getattr(difference, "made_good_by", None)
    if label == Label.LATE_REFUND and former and former.state == Difference.State.OPEN:
        return "late_refund_proposed", former
    if label == Label.MISSING_REFUND and late:
        return "missing_refund_came", late
    named = {candidate["why"] for candidate in difference.candidates}
    if label == Label.UNEXPLAINED and named & {Why.OUTCOME_UNKNOWN, Why.CHARGED_AFTER_ALL, Why.TWO_TOGETHER}:
        return "perhaps_charged", None
    return label, former


def said_of_books(position: Position, funds: Funds) -> Said:
    """The words for whether the books agree with the upstream's balance, and the consequence."""
    code = _books_code(position, funds)
    amount = position.proof.flaw_amount if code == "flaw" else position.difference
    least, most = position.between or (None, None)
    facts = {
        "amount": rupiah(abs(amount) if code in {"flaw", "at_least"} else amount) if amount else "",
        "least": signed_rupiah(least),
        "most": signed_rupiah(most),
    }
    strong, text = (str(words) % facts for words in _OF_BOOKS[code])
    if code == Result.BALANCED and (reserved := funds.books.reserved):
        text = _("The provider had not charged the %(reserved)s that is reserved for orders.") % {
            "reserved": rupiah(reserved)
        }
    return Said(code=code, strong=strong, text=f"{_flaw(position)} {text}".strip())


def _books_code(position: Position, funds: Funds) -> str:
    state = Result(position.state)
    if position.proof.flaw:
        return "flaw"
    if state == Result.PROVISIONAL and position.between:
        return "at_least" if position.difference else "sign_not_known"
    if state == Result.PROVISIONAL and position.difference:
        return "not_explained_yet"
    if state == Result.WAITING and not funds.is_open:
        return "not_open" if funds.reading else "no_reading"
    if state in {Result.TOPUP, Result.UNEXPLAINED} and not position.difference:
        return "outweighed"
    return state


def _flaw(position: Position) -> str:
    """The flaw of the books themselves, and its place."""
    if not position.proof.flaw:
        return ""
    words = [f"{Flaw(position.proof.flaw).label}."]
    if position.proof.flaw_entry:
        words.append(_("The first wrong entry: %(id)s.") % {"id": position.proof.flaw_entry})
    return " ".join([*words, _("Somebody changed rows in the database itself.")])


_MESSAGES = {
    Result.BALANCED: (messages.SUCCESS, gettext_lazy("Compared: every rupiah is explained.")),
    Result.TOPUP: (messages.SUCCESS, gettext_lazy("Compared: a top-up is not acknowledged yet.")),
    Result.UNEXPLAINED: (
        messages.WARNING,
        gettext_lazy("Compared: there is a difference that nobody has explained."),
    ),
    Result.WAITING: (
        messages.SUCCESS,
        gettext_lazy("Compared: no result yet. The balance has to be read first."),
    ),
    Result.PROVISIONAL: (
        messages.SUCCESS,
        gettext_lazy("Compared: nothing is wrong so far. The open orders are polled first."),
    ),
}


def difference_words(run: ReconciliationRun) -> str:
    """The words for reported less expected; while orders are under way, the least that they allow."""
    amount = signed_rupiah(run.difference)
    is_least = run.state == Result.PROVISIONAL and run.difference
    return _("at least %(amount)s") % {"amount": amount} if is_least else amount


def result_message(run: ReconciliationRun, reading: Exchange | None) -> tuple[int, str]:
    """The result of a comparison with `reading`, the last one: the level of its message, and sentences."""
    if run.state == Result.PROVISIONAL and run.difference:
        words = _("Compared: at least %(amount)s is not explained so far. The open orders are polled first.")
        level, text = messages.WARNING, words % {"amount": rupiah(abs(run.difference))}
    elif run.state == Result.PROVISIONAL and run.difference is None:
        text = _(
            "Compared: the balance does not fit the books. The open orders, which say by how much, are polled first."
        )
        level = messages.WARNING
    else:
        level, lazy = _MESSAGES[Result(run.state)]
        text = str(lazy)
    if reading is None:
        return level, text
    as_of = _("As of %(time)s, not read since.") % {"time": clock(reading.answered_at)}
    return level, f"{as_of} {text}"
