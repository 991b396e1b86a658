"""The field with which people, drawers and tills get their branch."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from branches.seeing import names_branches
from branches.services import open_names


class BranchField(forms.TypedChoiceField):
    """An open branch, by its key."""

    def __init__(self, **facts: Any) -> None:
        widget = forms.Select({"class": "form-select"})
        super().__init__(label=_("Branch"), coerce=int, choices=open_names, widget=widget, **facts)


class WithBranch(forms.Form):
    """A form about something that belongs to a branch; people who see only one are not asked."""

    branch = BranchField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not names_branches():
            del self.fields["branch"]
