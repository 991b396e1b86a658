"""Shows acts on customers in the activity log."""

from django.utils.translation import gettext_lazy as _, pgettext_lazy

from audit.facts import Fact, name_facts
from audit.subjects import Place, register
from core.rights import Right

name_facts(
    customers=Fact(pgettext_lazy("audit", "New customers")),
    merged=Fact(pgettext_lazy("audit", "Merged with no.")),
    saved_numbers=Fact(pgettext_lazy("audit", "New numbers")),
)
register(Place("customer_list", _("Customers"), "customer_list", Right.VIEW_CUSTOMERS, keys="customers"))
