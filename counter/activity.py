"""Shows the first tiles of a till in the activity log."""

from django.utils.translation import pgettext_lazy

from audit.facts import Fact, name_facts

name_facts(first_tiles=Fact(pgettext_lazy("audit", "First tiles")))
