"""How the activity log shows acts on customers."""

from django.utils.translation import pgettext_lazy

from audit.facts import Fact, name_facts

name_facts(merged=Fact(pgettext_lazy("audit", "Merged with no.")))
