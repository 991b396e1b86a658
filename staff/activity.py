"""Shows acts on accounts in the activity log."""

from collections.abc import Iterable
from typing import Any

from django.urls import reverse
from django.utils.translation import pgettext, pgettext_lazy

from audit.facts import Fact, choice_of, money, name_codes, name_facts
from audit.subjects import ANY, About, Rows, Seen, Subject, register
from core.rights import Right, Role
from staff.models import AccessLink, User
from staff.rights import ALL_ROLES

_FACTORS = {
    "recovery_codes": pgettext_lazy("audit", "recovery codes"),
    "totp": pgettext_lazy("audit", "authenticator app"),
    "webauthn": pgettext_lazy("audit", "passkey"),
}
_role_words = choice_of(Role)

name_facts(
    account=Fact(pgettext_lazy("audit", "Account no."), of="person"),
    alone=Fact(pgettext_lazy("audit", "Without a second person")),
    approval_above=Fact(pgettext_lazy("audit", "Needs approval above"), money),
    approved_by=Fact(pgettext_lazy("audit", "Approved by person no."), of="person"),
    because=Fact(pgettext_lazy("audit", "Because")),
    by=Fact(pgettext_lazy("audit", "By")),
    demo=Fact(pgettext_lazy("audit", "Demo")),
    given=Fact(pgettext_lazy("audit", "Rights given"), choice_of(Right)),
    has_password=Fact(pgettext_lazy("audit", "Has a password")),
    is_bound=Fact(pgettext_lazy("audit", "Sees only the own branch")),
    is_active=Fact(pgettext_lazy("audit", "Active")),
    issuer=Fact(pgettext_lazy("audit", "Provider")),
    kind=Fact(pgettext_lazy("audit", "Kind")),
    kinds=Fact(pgettext_lazy("audit", "Kinds")),
    known_device=Fact(pgettext_lazy("audit", "Known device")),
    limits=Fact(pgettext_lazy("audit", "Limits")),
    made_by=Fact(pgettext_lazy("audit", "Made by person no."), of="person"),
    open_link=Fact(pgettext_lazy("audit", "Open link")),
    passkey=Fact(pgettext_lazy("audit", "By passkey")),
    per_day=Fact(pgettext_lazy("audit", "Limit per day"), money),
    per_order=Fact(pgettext_lazy("audit", "Limit per order"), money),
    purpose=Fact(pgettext_lazy("audit", "Link for"), choice_of(AccessLink.Purpose)),
    rights=Fact(pgettext_lazy("audit", "Rights"), choice_of(Right)),
    role=Fact(pgettext_lazy("audit", "Role"), _role_words),
    says=Fact(pgettext_lazy("audit", "Role at the provider"), _role_words),
    seconds=Fact(pgettext_lazy("audit", "For seconds")),
    sessions=Fact(pgettext_lazy("audit", "Sessions")),
    sub=Fact(pgettext_lazy("audit", "ID at the provider")),
)
# The rights of each role, in the event that notes the rights of all roles.
name_facts(**{role.value: Fact(role.label, choice_of(Right)) for role in Role})
name_codes("kind", **_FACTORS)
name_codes("kinds", **_FACTORS)
name_codes(
    "because",
    idle=pgettext_lazy("audit", "nobody did anything"),
    provider=pgettext_lazy("audit", "sign-in provider switched off"),
)
name_codes(
    "by", migration=pgettext_lazy("audit", "an update of the app"), oidc=pgettext_lazy("audit", "sign-in provider")
)


class _People(Subject):
    """People, by number or by user name."""

    def about(self, key: str, seen: Seen) -> About | None:
        """The name, with the user name beside it."""
        if person := seen.rows.get(key):
            sub = "" if person.shown_name == person.username else person.username
            return About(person.shown_name, self.url(seen.reader, person.pk), sub)
        return super().about(key, seen) if self.by == "pk" else About(key, is_code=True)

    def number_words(self, key: str, rows: Rows) -> str:
        """The name and the number; only the number for an unknown person."""
        return f"{rows[key].shown_name} ({key})" if key in rows else key


class _Claims(_People):
    """The role that the provider gives a person: "outside:7:cashier"."""

    def rows(self, keys: set[str]) -> Iterable[Any]:
        return super().rows({key.partition(":")[0] for key in keys})

    def about(self, key: str, seen: Seen) -> About:
        number, _colon, role = key.partition(":")
        return About(f"{self.number_words(number, seen.rows)} → {_role_words(role)}")


class _Roles(Subject):
    """Roles by their codes, or all of them."""

    def about(self, key: str, seen: Seen) -> About:
        if key == ALL_ROLES:
            page = reverse("role_list") if seen.reader.has_perms(self.rights) else ""
            return About(pgettext("audit", "Every role"), page)
        return About(_role_words(key), self.url(seen.reader, key) if key in Role.values else "")


_page = ("staff_detail", Right.MANAGE_STAFF)
register(
    _People("person", pgettext_lazy("audit", "Person no. %(number)s"), *_page, model=User),
    _People("username", "", *_page, model=User, by="username", keys=ANY),
    _Claims("outside", model=User, keys=r"\d{1,18}:\w+"),
    _Roles("role", "", "role_detail", Right.CHANGE_ROLES, keys=ANY),
    Subject("invite", keys=ANY),
)
