"""Forms about the books."""

from django import forms
from django.utils.translation import gettext_lazy as _

from core.forms import RupiahField


class ExpectedTopUpForm(forms.Form):
    """A top-up that will come: the amount, and the source."""

    amount = RupiahField(error_messages={"required": _("Type the amount first.")})
    note = forms.CharField(max_length=500, strip=True, required=False)


class NoteForm(forms.Form):
    """A few words, kept with the decision."""

    note = forms.CharField(
        max_length=500, strip=True, error_messages={"required": _("Write first where the money is from.")}
    )


class ReasonForm(forms.Form):
    """The reason why the books are adjusted; a second person reads it."""

    reason = forms.CharField(max_length=500, strip=True, error_messages={"required": _("Write the reason first.")})
