"""How the activity log shows the accounts of journals."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from audit.facts import Fact, name_facts
from audit.subjects import Place, register
from core.rights import Right

name_facts(accounts=Fact(pgettext_lazy("audit", "Accounts")))
register(Place("setting", _("Accounts of the journal"), "journal_accounts", Right.CHANGE_SHOP, keys="journal accounts"))
