"""Shows branches in the activity log."""

from django.utils.translation import pgettext_lazy

from audit.facts import Fact, name_facts
from audit.subjects import Subject, register
from branches.models import Branch
from branches.services import all_branches
from core.rights import Right


def _named(value: object) -> str:
    """The branch of this key by its name."""
    branch = all_branches().get(value) if isinstance(value, int) else None
    return branch.name if branch else str(value)


name_facts(branch=Fact(pgettext_lazy("audit", "Branch"), _named, of="branch"))
register(
    Subject("branch", pgettext_lazy("audit", "Branch no. %(number)s"), "shop_branch", Right.CHANGE_SHOP, model=Branch)
)
