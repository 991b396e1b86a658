"""Shows the bank in the activity log."""

from django.utils.translation import gettext_lazy as _, pgettext_lazy

from audit.facts import Fact, name_facts
from audit.subjects import Place, Subject, register
from bank.presenting import RIGHTS, words_of
from core.times import day_words

name_facts(
    bank_account=Fact(pgettext_lazy("audit", "Account at the bank")),
    day=Fact(pgettext_lazy("audit", "Day"), day_words),
    file=Fact(pgettext_lazy("audit", "File")),
    matched=Fact(pgettext_lazy("audit", "Matched at once")),
    matched_with=Fact(pgettext_lazy("audit", "Matched with"), words_of),
)
register(
    Place("bank", _("Bank"), "bank", *RIGHTS, keys="bank"),
    Place("file", _("Bank"), "bank", *RIGHTS, keys="bank"),
    Subject("bank_row", pgettext_lazy("audit", "Row no. %(number)s of the bank"), "bank_row", *RIGHTS),
)
