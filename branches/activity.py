"""How the activity log shows branches."""

from django.utils.translation import pgettext_lazy

from audit.facts import Fact, name_facts
from audit.subjects import Subject, register
from branches.models import Branch
from core.rights import Right

name_facts(branch=Fact(pgettext_lazy("audit", "Branch"), of="branch"))
register(
    Subject("branch", pgettext_lazy("audit", "Branch no. %(number)s"), "shop_branch", Right.CHANGE_SHOP, model=Branch)
)
