"""The forms of preferences, invitations, roles and limits."""

from dataclasses import asdict, replace
from typing import Any

from allauth.account.forms import ChangePasswordForm, LoginForm
from django import forms
from django.contrib.auth.forms import SetPasswordForm, UsernameField
from django.contrib.auth.password_validation import password_validators_help_texts
from django.utils.translation import gettext, gettext_lazy as _

from branches.forms import WithBranch
from core.forms import RupiahField, changed_by_reader
from core.money import rupiah
from core.rights import OF_ROLES, Role
from staff.errors import SLOWED, slowed_words
from staff.models import LIMITS, User
from staff.roles import roles_given_by
from staff.services import Limits, proposed_user_name
from staff.services.own_factors import counted_password
from staff.services.throttle import Slowed

_FIELD = {"class": "form-control", "autocomplete": "off"}
_MORE = ("email", "note")
_OF_COST = _("Counts the cost, not what the customer pays.")


class PreferencesForm(forms.ModelForm):  # type: ignore[type-arg]
    """Language and look of the pages, and the announcement of an own order's end; stored with the account."""

    class Meta:
        model = User
        fields = ["language", "theme", "endings"]
        widgets = dict.fromkeys(fields, forms.RadioSelect)
        labels = {"language": _("Language"), "theme": _("Look"), "endings": _("When an order of mine ends")}

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        language = self.fields["language"]
        assert isinstance(language, forms.TypedChoiceField)  # noqa: S101 - what Django makes of `choices`
        language.choices = [("", _("Same as browser")), *User._meta.get_field("language").flatchoices]

    def save(self, commit: bool = True) -> User:
        """Store only these fields: a role or an account that was changed meanwhile keeps the change."""
        self.instance.save(update_fields=self.Meta.fields)
        person: User = self.instance
        return person


class SignInForm(LoginForm):  # type: ignore[misc]
    """User name and password; a person who has to wait may add a code (staff/services/attempts.py)."""

    def clean_login(self) -> str:
        """The name as accounts have it: wide and narrow letters are the same."""
        return str(User.normalize_username(super().clean_login()))

    @property
    def seconds_to_wait(self) -> int:
        """Seconds until a password is checked again; 0 when this one was checked."""
        errors = self.errors.as_data().get("__all__", [])
        return next((error.params["seconds"] for error in errors if error.code == SLOWED), 0)


class OwnPasswordForm(ChangePasswordForm):  # type: ignore[misc]
    """The old password and a new one."""

    def clean_oldpassword(self) -> str:
        """The old password, which has to be right; guesses are slowed."""
        try:
            with counted_password(self.user):
                return str(super().clean_oldpassword())
        except Slowed as slowed:
            raise forms.ValidationError(slowed_words(slowed.seconds), code=SLOWED) from slowed


class RoleForm(forms.Form):
    """One of the roles that `actor` may give. `empty`: the words for a first choice without a role."""

    role = forms.TypedChoiceField(label=_("Role"), coerce=Role)

    def __init__(
        self, *args: Any, actor: User, rights: dict[Role, set[str]] | None = None, empty: str = "", **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        role = self.fields["role"]
        assert isinstance(role, forms.TypedChoiceField)  # noqa: S101
        given = [(role_given.value, role_given.label) for role_given in roles_given_by(actor, rights)]
        role.choices = [("", empty), *given] if empty else given
        role.widget.attrs["class"] = "form-select"


class LimitsForm(forms.Form):
    """Limits in whole rupiah; an empty one means no limit, or the role's. `limits`: as they are stored now."""

    per_order = RupiahField(label=_("Limit per order"), help_text=_OF_COST, least=0, required=False)
    per_day = RupiahField(label=_("Limit per day"), help_text=_OF_COST, least=0, required=False)
    approval_above = RupiahField(
        label=_("Needs approval above (Rp)"),
        help_text=_("Counts what the customer pays, or the cost if higher."),
        least=0,
        required=False,
    )

    def __init__(self, *args: Any, limits: Limits, role: Limits | None = None, empty: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs | {"initial": asdict(limits)})
        for name in asdict(limits):
            of_role = getattr(role, name) if role else None
            shown = empty or (gettext("no limit") if of_role is None else rupiah(of_role))
            self.fields[name].widget.attrs |= {**_FIELD, "inputmode": "numeric", "maxlength": 30, "placeholder": shown}
            self.fields[name].show_hidden_initial = True

    def limits_from(self, held: Limits) -> Limits:
        """The `held` limits with the changes that the reader made on the page; only of a valid form."""
        changed = changed_by_reader(self)
        return replace(held, **{name: self.cleaned_data[name] for name in LIMITS if name in changed})

    @property
    def amounts(self) -> list[forms.BoundField]:
        """The limits; the one per order comes first."""
        return [self[name] for name in LIMITS]

    @property
    def more(self) -> list[forms.BoundField]:
        """The limits that an invitation folds away."""
        return self.amounts[1:]

    @property
    def has_more(self) -> bool:
        """Whether one of these is filled in or wrong."""
        return any(field.value() or field.errors for field in self.more)


class RoleRightsForm(LimitsForm):
    """The rights and limits of a role. `shown`: the rights that the role had when the page was made."""

    rights = forms.MultipleChoiceField(choices=[(right.value, right.label) for right in OF_ROLES], required=False)
    shown = forms.CharField(required=False, widget=forms.HiddenInput)

    def rights_from(self, held: set[str]) -> set[str]:
        """The rights that the role gets: the `held` ones with the changes that the reader made on the page."""
        ticked = set(self.cleaned_data["rights"])
        if "shown" not in self.data:  # a page of older code
            return ticked
        shown = set(self.cleaned_data["shown"].split())
        return (held | ticked - shown) - (shown - ticked)


class NamesForm(forms.Form):
    """The names of a new person."""

    full_name = forms.CharField(label=_("Name"), max_length=150, strip=True)
    username = UsernameField(
        label=_("User name"),
        max_length=150,
        strip=True,
        validators=[User.username_validator],
        help_text=_("For signing in, for example sari."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("full_name", "username"):
            self.fields[name].widget.attrs |= _FIELD
        self.fields["full_name"].widget.attrs |= {"autofocus": True}
        self.fields["username"].widget.attrs |= {"autocapitalize": "none", "spellcheck": "false"}


class InviteForm(NamesForm, RoleForm, WithBranch):
    """A new person, as the inviter types it."""

    email = forms.EmailField(label=_("E-mail"), required=False, help_text=_("Only noted; nothing is sent to it."))
    note = forms.CharField(label=_("Note"), max_length=300, strip=True, required=False)
    field_order = ["full_name", "username", "role", "branch", "email", "note"]

    def __init__(self, *args: Any, actor: User, **kwargs: Any) -> None:
        super().__init__(*args, actor=actor, empty=gettext("Choose a role"), **kwargs)
        self.initial.update(branch=actor.branch_id, role=Role.CASHIER)
        self.fields["username"].required = False
        self.fields["username"].help_text = _("For signing in. If it stays empty:")
        for name in _MORE:
            self.fields[name].widget.attrs |= _FIELD

    def clean(self) -> dict[str, Any]:
        """An empty user name is made from the name."""
        cleaned = super().clean() or {}
        self.is_name_proposed = bool(cleaned.get("full_name")) and cleaned.get("username") == ""
        if self.is_name_proposed:
            cleaned["username"] = proposed_user_name(cleaned["full_name"])
            if not cleaned["username"]:
                self.add_error("username", forms.ValidationError(gettext("Type a user name."), code="required"))
        return cleaned

    def propose_name_again(self) -> None:
        """Put the present proposal into the valid form, because somebody else has taken the one before."""
        self.cleaned_data["username"] = proposed_user_name(self.cleaned_data["full_name"])

    @property
    def proposed_name(self) -> str:
        """The user name that is made from the typed name; empty without a name."""
        return proposed_user_name(self["full_name"].value() or "")

    @property
    def person(self) -> list[forms.BoundField]:
        """The name and the role; the limit per order follows."""
        return [self["full_name"], self["role"]]

    @property
    def filled_in(self) -> list[forms.BoundField]:
        """The branch, in a shop with several: mostly the proposed one stays."""
        return [field for field in self if field.name == "branch"]

    @property
    def more(self) -> list[forms.BoundField]:
        """The fields that few shops use."""
        return [self[name] for name in _MORE]


class ChoosePasswordForm(SetPasswordForm):  # type: ignore[type-arg]
    """A password, typed twice, that the rules (`shop.passwords`) allow. It stores nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        first, second = self.fields["new_password1"], self.fields["new_password2"]
        first.label, second.label = _("Password"), _("The same password again")
        first.help_text = password_validators_help_texts()[0]  # our own; the others add nothing
        second.help_text = ""
        first.widget.attrs |= {"class": "form-control", "autofocus": True}
        second.widget.attrs |= {"class": "form-control"}

    def clean(self) -> dict[str, Any]:
        """Put an error of the password at its own field, not at its repetition."""
        self.validate_passwords("new_password1", "new_password2")
        self.validate_password_for_user(self.user, "new_password1")
        return self.cleaned_data


class FirstOwnerForm(NamesForm, ChoosePasswordForm):
    """The shop's first owner: name, user name and password."""

    field_order = ["full_name", "username", "new_password1", "new_password2"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(User(), *args, **kwargs)
        self.fields["username"].widget.attrs |= {"autocomplete": "username"}
        self.fields["new_password1"].widget.attrs.pop("autofocus")

    def clean(self) -> dict[str, Any]:
        """The password is compared with the names that were typed."""
        self.user.username = self.cleaned_data.get("username", "")
        self.user.first_name = self.cleaned_data.get("full_name", "")
        return super().clean()
