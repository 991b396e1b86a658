"""The filter by branch of any list."""

from typing import Any

import django_filters
from django.utils.translation import gettext_lazy as _

from branches.seeing import names_branches
from branches.services import branch_names
from core.filters import ListFilter


class BranchFilter(django_filters.ChoiceFilter):  # type: ignore[misc]
    """Rows whose `field_name` is this branch, by its key."""

    def __init__(self, **kwargs: Any) -> None:
        facts = {"label": _("Branch"), "empty_label": _("Every branch"), "choices": branch_names}
        super().__init__(**(facts | kwargs))


class InBranches(ListFilter):
    """A list with a filter `branch`; the filter is left out if the shop has, or the reader sees, only one branch."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not names_branches():
            del self.form.fields["branch"]
