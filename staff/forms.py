"""How a person likes the pages."""

from django import forms
from django.utils.translation import gettext_lazy as _

from staff.models import User


class PreferencesForm(forms.ModelForm):  # type: ignore[type-arg]
    """Language and look of the pages, kept with the account."""

    class Meta:
        model = User
        fields = ["language", "theme"]
        widgets = {"language": forms.RadioSelect, "theme": forms.RadioSelect}
        labels = {"language": _("Language"), "theme": _("Look")}

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        language = self.fields["language"]
        assert isinstance(language, forms.TypedChoiceField)  # noqa: S101 - what Django makes of `choices`
        language.choices = [("", _("Same as browser")), *User._meta.get_field("language").flatchoices]
