"""The form of a number whose bill is checked each month."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from dues.models import FollowedNumber


class FollowForm(forms.ModelForm):  # type: ignore[type-arg]
    """The day of the check, and the day from which there is a fine."""

    class Meta:
        model = FollowedNumber
        fields = ["day", "fine_day"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.widget.attrs |= {"class": "form-control", "inputmode": "numeric", "max": 31, "min": 1}
        self.fields["day"].label, self.fields["fine_day"].label = _("Day of the month"), _("Fine from day")
        self.fields["day"].help_text = _("In that night the bill is checked; a shorter month has it on its last day.")
