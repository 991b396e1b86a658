"""Shows a change of the policies in the activity log."""

from django.utils.translation import gettext_lazy as _

from audit.facts import Fact, name_facts
from audit.subjects import Place, register
from core.rights import Right
from policies.words import WORDS

name_facts(**{name: Fact(words.label) for name, words in WORDS.items()})
register(Place("setting", _("Policies"), "policies", Right.CHANGE_POLICIES, keys="policies"))
