"""The search of the customers' list; it lives in the URL."""

from django.utils.translation import gettext_lazy as _

from branches.filters import BranchFilter, InBranches
from core.filters import SearchFilter
from core.numbers import sees_whole_numbers
from customers.models import CustomerQuerySet
from customers.services.buyers import bought_in


class CustomerFilter(InBranches):
    """Customers by a part of the name or note, by the beginning of a number, or by a branch where they have bought."""

    q = SearchFilter(label=_("Name or number"))
    branch = BranchFilter(method="of_branch", label=_("Bought in branch"))

    def search(self, customers: CustomerQuerySet, _name: str, text: str) -> CustomerQuerySet:
        """All customers whom `text` may mean."""
        return customers.matching(text, by_part=sees_whole_numbers())

    def of_branch(self, customers: CustomerQuerySet, _name: str, branch: str) -> CustomerQuerySet:
        """The customers who have bought in this branch."""
        return customers.filter(bought_in(int(branch)))
