"""The acts that take a second person: invitations, roles, limits, rights, accounts switched on.

They are the acts of `staff`, which stands below this room.
"""

from abc import abstractmethod
from collections.abc import Collection, Iterable
from dataclasses import asdict
from typing import Any

from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.urls import reverse
from django.utils.translation import gettext, gettext_lazy as _, pgettext_lazy

from approvals.acts import Act, Line, Seen, register
from approvals.errors import ApprovalRefused
from approvals.models import Approval, Content
from branches.services import branch_name
from core.money import rupiah
from core.rights import Right, Role
from staff import services
from staff.errors import NotAllowed
from staff.models import LIMITS, User
from staff.roles import role_of
from staff.services import Limits
from staff.services.links import name_taken
from staff.services.outside import claimed_role, claims_of, give_claimed_role, lock_claimed_role
from staff.services.roles import described
from staff.services.second import (
    MORE_TO_SPEND,
    Change,
    invitation,
    limit_change,
    may_second,
    outside_role,
    role_change,
    role_edit,
    switching_on,
)

_LIMITS = {
    "per_order": _("Limit per order"),
    "per_day": _("Limit per day"),
    "approval_above": _("Needs approval above"),
}


class PeopleAct(Act):
    """A change of a person or a role; the second person's own role is at least the role that it is about."""

    @abstractmethod
    def change(self, content: Content) -> Change:
        """The change of this content, for its right, rank and person; nothing is locked."""

    def refuse_approver(self, approval: Approval, person: User) -> None:
        """Nobody approves above their own role, or for their own account."""
        if not may_second(self.change(approval.facts), person):
            raise ApprovalRefused("no_right")

    def branch_of(self, content: Content, asker: User) -> int | None:
        """The person's branch, or the new person's for an invitation; None for a role."""
        if person := content.get("person"):
            branch: int = User.objects.get(pk=person).branch_id
            return branch
        if "username" not in content:
            return None
        invited: int = content["facts"].get("branch", asker.branch_id)  # older approvals name none
        return invited

    def people_in(self, content: Content) -> set[int]:
        return {content["person"]} if "person" in content else set()

    def url(self, approval: Approval) -> str:
        key = approval.facts.get("person") or approval.result
        return User(pk=key).get_absolute_url() if key else ""


@register
class InviteAct(PeopleAct):
    """Somebody is invited into a role that takes a second person; the asker makes the link afterwards."""

    name = "invite"
    label = _("Invitation into a role with more rights")
    may_ask = may_approve = Right.MANAGE_STAFF

    def change(self, content: Content) -> Change:
        return invitation(content["username"], Role(content["role"]), content["facts"])

    def content_now(self, approval: Approval) -> Content:
        """The content with the rights of the role now. Raises `NotAllowed`, or `NameTaken`."""
        return self._locked(approval).content

    def questions(self, approvals: Collection[Approval]) -> list[QuerySet[Any, Any]]:
        names = [User.normalize_username(approval.facts["username"]).casefold() for approval in approvals]
        return [User.objects.alias(plain=Lower("username")).filter(plain__in=names).order_by("pk")]

    def content_seen(self, approval: Approval, seen: Seen) -> Content:
        """The content as it was asked for. Raises `NameTaken`."""
        wanted = User.normalize_username(approval.facts["username"]).casefold()
        if any(person.username.casefold() == wanted for person in seen.answers[0]):
            raise name_taken()
        return approval.facts

    def execute(self, approval: Approval, *, approver: User) -> str:
        """Make the person, without a link: only the inviter may see one."""
        person = services.add_person(self._locked(approval), actor=approval.asked_by, approved_by=approver)
        return str(person.pk)

    def lines(self, content: Content) -> list[Line]:
        """The person and the role; the branch, too, if the shop has several."""
        branch = branch_name(content["facts"].get("branch", 0))
        return [
            Line("facts", _("Name"), content["facts"]["full_name"]),
            Line("username", _("User name"), content["username"]),
            Line("role", _("Role"), _role(content["role"])),
            *([Line("branch", _("Branch"), branch)] if branch else []),
            _rights_line("rights", pgettext_lazy("rights", "Can then"), content["rights"]),
        ]

    def _locked(self, approval: Approval) -> Change:
        asked = approval.facts
        return services.lock_invitation(asked["username"], Role(asked["role"]), asked["facts"], actor=approval.asked_by)


@register
class RoleAct(PeopleAct):
    """A person gets a role that lets this person do more."""

    name = "role"
    label = _("Role with more rights")
    may_ask = may_approve = Right.MANAGE_STAFF

    def change(self, content: Content) -> Change:
        """The role, for this person as stored now."""
        return role_change(_person(content), Role(content["after"]), gains=content["gains"])

    def content_now(self, approval: Approval) -> Content:
        """The content with the roles, and what they hold, as they are now. Raises `NotAllowed`."""
        person, role = _still_on(_person(approval.facts)), Role(approval.facts["after"])
        return services.lock_role_change(person, role, actor=approval.asked_by).content

    def content_seen(self, approval: Approval, seen: Seen) -> Content:
        """The content with the role that the person has now. Raises `NotAllowed`."""
        person = _still_on(seen.people[approval.facts["person"]])
        if person.is_outside:
            raise NotAllowed("outside")
        return _with_role(approval.facts, "before", person)

    def execute(self, approval: Approval, *, approver: User) -> str:
        person, role = _person(approval.facts), Role(approval.facts["after"])
        services.change_role(person, role, actor=approval.asked_by, approved_by=approver)
        return str(person.pk)

    def lines(self, content: Content) -> list[Line]:
        """The person, the role, and the rights that it adds."""
        return [
            Line("username", _("User name"), content["username"]),
            Line("before", _("Role now"), _role(content["before"])),
            Line("after", _("New role"), _role(content["after"])),
            _rights_line("gains", pgettext_lazy("rights", "Can then also"), content["gains"]),
        ]


@register
class OutsideRoleAct(RoleAct):
    """A person gets the role that the provider says; the sign-in asks, in the person's own name."""

    name = "outside_role"
    label = _("Role from sign-in provider")

    def may_be_asked_by(self, person: User) -> bool:
        """Every active person from the provider may ask, with any present role."""
        return person.is_active and person.is_outside

    def change(self, content: Content) -> Change:
        """The role, for this person as stored now."""
        return outside_role(_person(content), Role(content["after"]), gains=content["gains"])

    def content_now(self, approval: Approval) -> Content:
        """The content with the roles as they are now. Raises `NotAllowed` when the provider says otherwise by now."""
        return lock_claimed_role(_person(approval.facts), Role(approval.facts["after"])).content

    def questions(self, approvals: Collection[Approval]) -> list[QuerySet[Any, Any]]:
        people = {approval.facts["person"] for approval in approvals}
        return [claims_of(people)]

    def content_seen(self, approval: Approval, seen: Seen) -> Content:
        """The content with the role that the person has now. Raises `NotAllowed`."""
        asked = approval.facts
        person = seen.people[asked["person"]]
        says = claimed_role(link for link in seen.answers[0] if link.user_id == person.pk)
        if not (person.is_active and person.is_outside and says == asked["after"]):
            raise NotAllowed("other_claim")
        return _with_role(asked, "before", person)

    def execute(self, approval: Approval, *, approver: User) -> str:
        """Give the role. The approver is the only person of the shop who let it happen."""
        give_claimed_role(_person(approval.facts), Role(approval.facts["after"]), approved_by=approver)
        return str(approval.facts["person"])


@register
class SwitchOnAct(PeopleAct):
    """An account whose role takes a second person is switched on again."""

    name = "switch_on"
    label = _("Account switched on again")
    may_ask = may_approve = Right.MANAGE_STAFF

    def change(self, content: Content) -> Change:
        return switching_on(_person(content))

    def content_now(self, approval: Approval) -> Content:
        """The content with the role and its rights now. Raises `NotAllowed`."""
        return services.lock_switching_on(_person(approval.facts), actor=approval.asked_by).content

    def content_seen(self, approval: Approval, seen: Seen) -> Content:
        """The content with the role that the account has now."""
        return _with_role(approval.facts, "role", seen.people[approval.facts["person"]])

    def execute(self, approval: Approval, *, approver: User) -> str:
        services.reactivate(_person(approval.facts), actor=approval.asked_by, approved_by=approver)
        return str(approval.facts["person"])

    def lines(self, content: Content) -> list[Line]:
        return [
            Line("username", _("User name"), content["username"]),
            Line("role", _("Role"), _role(content["role"])),
            _rights_line("rights", pgettext_lazy("rights", "Can then"), content["rights"]),
        ]


@register
class LimitsAct(PeopleAct):
    """A person may spend more."""

    name = "limits"
    label = _("Higher limits of a person")
    may_ask = may_approve = Right.CHANGE_LIMITS

    def change(self, content: Content) -> Change:
        """The limits, for this person as stored now."""
        return limit_change(_person(content), content["before"], content["after"], content["holds"])

    def content_now(self, approval: Approval) -> Content:
        """The content with the limits that the person has now. Raises `NotAllowed`."""
        change, _is_more = services.lock_limit_change(
            _still_on(_person(approval.facts)), Limits(**approval.facts["after"]), actor=approval.asked_by
        )
        return change.content

    def content_seen(self, approval: Approval, seen: Seen) -> Content:
        """The content with the role and the own limits that the person has now. Raises `NotAllowed`."""
        person = _still_on(seen.people[approval.facts["person"]])
        now = {"before": asdict(services.own_limits_of(person))}
        return {**_with_role(approval.facts, "role", person), **now}

    def execute(self, approval: Approval, *, approver: User) -> str:
        own = Limits(**approval.facts["after"])
        services.change_limits(_person(approval.facts), own, actor=approval.asked_by, approved_by=approver)
        return str(approval.facts["person"])

    def lines(self, content: Content) -> list[Line]:
        """The person, the own limits before and after, and what the person could then spend."""
        return [
            Line("username", _("User name"), content["username"]),
            Line("before", _("Personal limits now"), _limits(content["before"], gettext("as the role"))),
            Line("after", _("New personal limits"), _limits(content["after"], gettext("as the role"))),
            Line("holds", _("Can then spend"), _limits(content["holds"], gettext("no limit"))),
        ]


@register
class RoleRightsAct(PeopleAct):
    """A role may do or spend more."""

    name = "role_rights"
    label = _("More rights or limits of a role")
    may_ask = may_approve = Right.CHANGE_ROLES

    def change(self, content: Content) -> Change:
        return role_edit(Role(content["role"]), content["before"], content["after"])

    def content_now(self, approval: Approval) -> Content:
        """The content with what the role holds now. Raises `NotAllowed`."""
        role, rights, limits = _edit(approval.facts)
        return services.lock_role_edit(role, rights, limits, actor=approval.asked_by)[0].content

    def content_seen(self, approval: Approval, seen: Seen) -> Content:
        """The content with what the role holds now, if it is the only one shown."""
        if not seen.is_alone:
            return approval.facts
        return {**approval.facts, "before": described(Role(approval.facts["role"]))}

    def execute(self, approval: Approval, *, approver: User) -> str:
        role, rights, limits = _edit(approval.facts)
        services.change_role_rights(role, rights, limits, actor=approval.asked_by, approved_by=approver)
        return role.value

    def lines(self, content: Content) -> list[Line]:
        """The role, what it gains and loses, and its limits."""
        before, after = content["before"], content["after"]
        had, has = set(before["rights"]), set(after["rights"])
        none = gettext("no limit")
        return [
            Line("role", _("Role"), _role(content["role"])),
            _rights_line("gains", pgettext_lazy("rights", "Can then also"), has - had),
            _rights_line("loses", pgettext_lazy("rights", "Can no longer"), had - has),
            Line("before", _("Limits now"), _limits(before["limits"], none)),
            Line("after", _("New limits"), _limits(after["limits"], none)),
        ]

    def about(self, approval: Approval) -> str:
        return _role(approval.facts["role"])

    def url(self, approval: Approval) -> str:
        return reverse("role_detail", args=[approval.facts["role"]])


def _person(content: Content) -> User:
    person: User = User.objects.get(pk=content["person"])
    return person


def _still_on(person: User) -> User:
    """The person. Raises `NotAllowed` for an account that was switched off meanwhile."""
    if not person.is_active:
        raise NotAllowed("switched_off")
    return person


def _with_role(content: Content, name: str, person: User) -> Content:
    """The content with the role that the person has now under `name`."""
    role = role_of(person)
    return {**content, name: role.value if role else ""}


def _role(role: str) -> str:
    return str(Role(role).label) if role in Role.values else gettext("None")


def _rights_line(name: str, label: Any, rights: Iterable[str]) -> Line:
    """The rights in the order of the page about roles; names that are not rights come last."""
    others = {MORE_TO_SPEND: gettext("Spend more"), "*": gettext("Everything")}
    order = {right.value: place for place, right in enumerate(Right)}
    held = {*rights}
    named = ["*"] if "*" in held else sorted(held, key=lambda right: (order.get(right, len(order)), right))
    words = tuple(str(Right(right).label) if right in order else others.get(right, right) for right in named)
    return Line(name, label, "; ".join(words) or "–", several=words)


def _edit(content: Content) -> tuple[Role, list[str], Limits]:
    return Role(content["role"]), content["after"]["rights"], Limits(**content["after"]["limits"])


def _limits(limits: dict[str, Any], empty: str) -> str:
    return "; ".join(f"{_LIMITS[name]}: {empty if limits[name] is None else rupiah(limits[name])}" for name in LIMITS)
