"""The filter of the list of tills; it lives in the URL."""

from branches.filters import BranchFilter, InBranches
from tills.models import Till


class TillFilter(InBranches):
    """Tills by branch."""

    branch = BranchFilter()

    class Meta:
        model = Till
        fields: list[str] = []
