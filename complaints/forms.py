"""Forms about a complaint."""

from django import forms
from django.utils.translation import gettext_lazy as _

_LINE = {"class": "form-control", "autocomplete": "off"}


class ComplaintForm(forms.Form):
    """The customer's words or the step taken, and the new due time."""

    words = forms.CharField(label=_("What the customer says"), max_length=500, widget=forms.TextInput(_LINE))
    hours = forms.TypedChoiceField(
        label=_("Due in"),
        coerce=int,
        initial=24,
        choices=[(1, _("1 hour")), (4, _("4 hours")), (24, _("1 day")), (48, _("2 days")), (168, _("1 week"))],
        widget=forms.Select({"class": "form-select"}),
    )


class StepForm(ComplaintForm):
    """A step of a complaint: its words and time. The button (`to`) names the new state."""

    words = forms.CharField(label=_("What was done, or said"), max_length=500, widget=forms.TextInput(_LINE))
