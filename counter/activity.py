"""How the activity log shows the first tiles of a till."""

from django.utils.translation import pgettext_lazy

from audit.facts import Fact, name_facts

name_facts(first_tiles=Fact(pgettext_lazy("audit", "First tiles")))
