"""Shows adjustments of the books in the activity log."""

from django.utils.translation import pgettext_lazy

from audit.facts import Fact, choice_of, name_facts
from audit.subjects import Subject, register
from reconciliation.models import Difference

name_facts(label=Fact(pgettext_lazy("audit", "Difference"), choice_of(Difference.Label)))
register(Subject("adjustment", pgettext_lazy("audit", "Adjustment no. %(number)s")))
