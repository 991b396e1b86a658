"""Shows files in the activity log."""

from django.utils.translation import pgettext_lazy

from audit.facts import Fact, name_codes, name_facts
from exports.presenting import query_words

name_facts(
    format=Fact(pgettext_lazy("audit", "Format")),
    list=Fact(pgettext_lazy("audit", "List")),
    numbers=Fact(pgettext_lazy("audit", "Customers' numbers")),
    query=Fact(pgettext_lazy("audit", "Filter"), query_words),
    rows=Fact(pgettext_lazy("audit", "Rows")),
)
name_codes("numbers", whole=pgettext_lazy("audit", "whole"))
