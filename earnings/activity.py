"""Shows the accounts of journals in the activity log."""

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _, pgettext_lazy

from audit.facts import Fact, name_facts
from audit.subjects import Place, register
from branches.services import branch_name
from core.rights import Right
from core.times import day_words, days_words
from earnings.presenting import BY
from exports.presenting import SAID


def _said_of_earnings(values: dict[str, str]) -> Iterator[str]:
    """The words for a file of earnings: the split of the figures, the days of the comparison, and the branch."""
    if (by := values.pop("by", "")) in BY:
        yield f"{_('By')}: {BY[by]}"
    if against := days_words(values.pop("against_since", ""), values.pop("against_until", "")):
        yield f"{_('Against other days')}: {against}"
    yield from _said_of_branch(values)


def _said_of_journal(values: dict[str, str]) -> Iterator[str]:
    yield day_words(values.pop("day", ""))
    yield from _said_of_branch(values)


def _said_of_branch(values: dict[str, str]) -> Iterator[str]:
    branch = values.get("branch", "")
    if branch.isdecimal() and (name := branch_name(int(branch))):
        yield f"{_('Branch')}: {name}"
        del values["branch"]


_OF_JOURNAL = (Right.VIEW_ORDERS, Right.VIEW_SHIFTS, Right.VIEW_COST, Right.VIEW_BOOKS, Right.VIEW_CREDIT)
SAID["earnings"], SAID["journal"] = _said_of_earnings, _said_of_journal
name_facts(accounts=Fact(pgettext_lazy("audit", "Accounts")))
register(
    Place("file", _("Earnings"), "earnings", Right.VIEW_ORDERS, Right.VIEW_SHIFTS, keys="earnings"),
    Place("file", _("Journal of a day"), "journal", *_OF_JOURNAL, keys="journal"),
)
register(Place("setting", _("Accounts of the journal"), "journal_accounts", Right.CHANGE_SHOP, keys="journal accounts"))
