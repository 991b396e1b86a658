"""The forms of the shop's settings."""

import re
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _, ngettext

from core.forms import changed_by_reader
from shop.errors import LogoRefused
from shop.models import MOST_LOGO_BYTES, Logo, Paper, Shop
from shop.pictures import Picture, read_picture
from shop.services import TEXTS

ADDRESS_LINES, FOOTER_LINES, LINE_LETTERS = 3, 6, 60
# The types that a browser offers, and the size that our script allows; the server checks the content.
_LOGO = {
    "class": "form-control",
    "accept": "image/png,image/jpeg,image/webp",
    "data-most-bytes": MOST_LOGO_BYTES,
}
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f]")


class LinesField(forms.CharField):
    """Some lines of text, each short enough for a receipt; empty lines at the ends are removed."""

    def __init__(self, *, most_lines: int, **facts: Any) -> None:
        attrs = {"class": "form-control", "rows": most_lines, "autocomplete": "off"}
        super().__init__(widget=forms.Textarea(attrs), required=False, **facts)
        self.most_lines = most_lines

    def clean(self, value: Any) -> str:
        """The lines, with "\\n" between them."""
        text = _CONTROL.sub(" ", super().clean(value).replace("\r\n", "\n").replace("\r", "\n"))
        lines = [line.strip() for line in text.strip().split("\n")]
        if len(lines) > self.most_lines:
            words = ngettext("At most %(n)s line.", "At most %(n)s lines.", self.most_lines)
            raise ValidationError(words % {"n": self.most_lines}, code="lines")
        if any(len(line) > LINE_LETTERS for line in lines):
            letters = _("At most %(n)s letters in one line.") % {"n": LINE_LETTERS}
            raise ValidationError(letters, code="letters")
        return "\n".join(lines)


class LogoField(forms.FileField):
    """A picture, recognised by its content; its value is a `Picture`."""

    def __init__(self, **facts: Any) -> None:
        super().__init__(widget=forms.FileInput(_LOGO), **facts)

    def clean(self, data: Any, initial: Any = None) -> Picture | None:
        """The picture, or None when no file was chosen."""
        file = super().clean(data, initial)
        if not file:
            return None
        try:
            return read_picture(file.read())
        except LogoRefused as refusal:
            raise ValidationError(str(refusal), code=refusal.code) from refusal


class HeadForm(forms.Form):
    """The head of receipts: a name, and the texts that are printed around the sale."""

    name = forms.CharField(label=_("Name"), max_length=60, strip=True)
    address = LinesField(label=_("Address"), most_lines=ADDRESS_LINES, max_length=200)
    phone = forms.CharField(label=_("Phone or WhatsApp"), max_length=20, strip=True, required=False)
    footer = LinesField(label=_("Last lines of a receipt"), most_lines=FOOTER_LINES, max_length=400)

    def __init__(self, data: Any = None, files: Any = None, *, head: Any) -> None:
        super().__init__(data, files, initial={name: getattr(head, name) for name in TEXTS if hasattr(head, name)})
        for name in self.initial:
            self.fields[name].show_hidden_initial = True
        for name in ("name", "phone"):
            self.fields[name].widget.attrs |= {"class": "form-control", "autocomplete": "off"}
        self.fields["phone"].widget.attrs["inputmode"] = "tel"
        for name, lines in (("address", ADDRESS_LINES), ("footer", FOOTER_LINES)):
            hint = _("At most %(lines)s lines of %(letters)s letters.")
            self.fields[name].help_text = hint % {"lines": lines, "letters": LINE_LETTERS}

    @property
    def texts(self) -> dict[str, str]:
        """The texts that the reader has changed on the page; only of a valid form."""
        changed = changed_by_reader(self)
        return {name: self.cleaned_data[name] for name in self.initial if name in changed}

    @property
    def shown_choices(self) -> SafeString:
        """The choices that the page showed: their fields are drawn button by button."""
        chosen = (self[name] for name in ("paper", "language") if name in self.fields)
        return format_html_join("", "{}", ((field.as_hidden(only_initial=True),) for field in chosen))

    def clean_name(self) -> str:
        """The name, in one line."""
        return _CONTROL.sub(" ", self.cleaned_data["name"].replace("\n", " "))

    def clean_phone(self) -> str:
        """The number as it will be printed."""
        phone: str = self.cleaned_data["phone"]
        digits = sum(letter.isdecimal() for letter in phone)
        if phone and (not re.fullmatch(r"[0-9+()\-. /]+", phone, re.ASCII) or not 5 <= digits <= 15):
            words = _("Type a phone number: 5 to 15 digits, for example 0812 3456 7890.")
            raise ValidationError(words, code="phone")
        return phone


class ShopForm(HeadForm):
    """The shop's settings; `shop` gives the initial values."""

    name = forms.CharField(label=_("Name of the shop"), max_length=60, strip=True)
    logo = LogoField(label=_("Logo"), required=False)
    # The picture of the preview: a browser does not keep a chosen file when the page is shown again.
    kept_logo = forms.ModelChoiceField(
        label=_("Use this logo from now on"), queryset=Logo.objects.defer("content"), required=False
    )
    without_logo = forms.BooleanField(label=_("Print no logo from now on"), required=False)
    paper = forms.ChoiceField(label=_("Paper of the printer"), choices=Paper.choices, widget=forms.RadioSelect)
    language = forms.ChoiceField(
        label=_("Language of receipts and messages"),
        choices=[("", _("As the cashier")), *settings.LANGUAGES],
        widget=forms.RadioSelect,
        required=False,
    )

    field_order = ["name"]

    def __init__(self, data: Any = None, files: Any = None, *, shop: Shop) -> None:
        super().__init__(data, files, head=shop)
        self.fields["logo"].help_text = _("PNG, JPEG or WebP, at most 256 KB. Black on white prints best.")
        if not shop.logo_id:
            del self.fields["without_logo"]
