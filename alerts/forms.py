"""The forms of the ways: what each service needs to know, as an address of apprise."""

from typing import Any, TypeAlias
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from alerts.services.ways import way_to

_LINE = {"class": "form-control", "autocomplete": "off", "spellcheck": "false"}
# What was typed comes back after a fault, so that nobody types a token twice.
_SECRET = forms.PasswordInput({**_LINE, "autocomplete": "new-password"}, render_value=True)


class WayForm(forms.Form):
    """The name that people give a way. Each service adds its fields, and the `address` for apprise."""

    words: str | Promise = ""
    name = forms.CharField(
        label=_("What people call it"),
        max_length=40,
        strip=True,
        widget=forms.TextInput({**_LINE, "placeholder": _("Owner's phone")}),
    )

    @property
    def host(self) -> str:
        """The server that the person named; empty if the service has its own."""
        return ""


class TelegramForm(WayForm):
    """A chat with a bot."""

    words = "Telegram"
    token = forms.RegexField(
        r"^\d{6,15}:[A-Za-z0-9_-]{30,60}$",
        label=_("Token of the bot"),
        widget=_SECRET,
        help_text=_("In Telegram write /newbot to @BotFather; its answer has the token."),
        error_messages={"invalid": _("A token has digits, a colon, and some 35 letters.")},
    )
    chat = forms.RegexField(
        r"^(-?\d{1,20}|@\w{5,32})$",
        label=_("Chat"),
        widget=forms.TextInput({**_LINE, "placeholder": "-1001234567890"}),
        help_text=_("Write to the bot or add it to the group first. @userinfobot says the number of the chat."),
        error_messages={"invalid": _("Type the number of the chat, or @ and the name of a channel.")},
    )

    @property
    def address(self) -> str:
        """The apprise address of one chat."""
        return f"tgram://{self.cleaned_data['token']}/{quote(self.cleaned_data['chat'], safe='@-')}/"


class MailForm(WayForm):
    """A mailbox, through the shop's own mail server."""

    words = _("E-mail")
    to = forms.EmailField(label=_("To"), widget=forms.EmailInput(_LINE))
    server = forms.CharField(
        label=_("Mail server"), max_length=200, widget=forms.TextInput({**_LINE, "placeholder": "smtp.gmail.com"})
    )
    user = forms.EmailField(
        label=_("Sign in as"), widget=forms.EmailInput(_LINE), help_text=_("The messages come from this address.")
    )
    password = forms.CharField(
        label=_("Password"),
        max_length=200,
        strip=False,
        widget=_SECRET,
        help_text=_("Gmail and others give a password for an app."),
    )

    @property
    def address(self) -> str:
        """The apprise address of the mailbox, always encrypted (STARTTLS)."""
        typed: dict[str, str] = self.cleaned_data
        account = f"{quote(typed['user'], safe='')}:{quote(typed['password'], safe='')}"
        query = urlencode({"from": typed["user"], "to": typed["to"]})
        return f"mailtos://{account}@{typed['server'].strip()}?{query}"

    @property
    def host(self) -> str:
        return str(self.cleaned_data["server"]).strip()


class WebhookForm(WayForm):
    """An address of Slack or Discord, or of the shop's own program, which gets JSON."""

    words = _("Slack, Discord or a webhook")
    url = forms.URLField(
        label=_("Address"),
        max_length=500,
        assume_scheme="https",
        widget=forms.URLInput({**_LINE, "placeholder": "https://hooks.example.com/…"}),
        help_text=_("It is a secret: whoever knows it can write there."),
    )

    def clean_url(self) -> str:
        """Require TLS, because messages name orders."""
        url: str = self.cleaned_data["url"]
        if not url.startswith("https://"):
            raise forms.ValidationError(_("It has to begin with https://."), code="plain")
        return url

    @property
    def address(self) -> str:
        """The service's own way if its address is known, else JSON by POST; the query stays."""
        url: str = self.cleaned_data["url"]
        if way_to(url) is not None:
            return url
        parts = urlsplit(url)
        query = urlencode({f"-{name}": value for name, value in parse_qsl(parts.query)})
        return f"jsons://{parts.netloc}{parts.path}{f'?{query}' if query else ''}"

    @property
    def host(self) -> str:
        return urlsplit(self.cleaned_data["url"]).hostname or ""


ServiceForm: TypeAlias = TelegramForm | MailForm | WebhookForm
#: The services that can be added, by the word in the address of the page.
FORMS: dict[str, type[ServiceForm]] = {"telegram": TelegramForm, "mail": MailForm, "webhook": WebhookForm}


def way_form(kind: str, data: Any = None) -> ServiceForm:
    """The form of this kind; the first form for an unknown kind."""
    return FORMS.get(kind, TelegramForm)(data)
