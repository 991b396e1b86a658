"""The person who signs in, the browsers in which that person is signed in, and the links that open an account."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar

from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.models import AbstractUser, Group, Permission, UserManager
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models, transaction
from django.db.models import Exists, OuterRef, Q, Subquery, Value
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Coalesce, Concat, Upper
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from audit.history import history_of
from branches.models import FIRST, Branch
from core.rights import Right
from staff.events import ROLE_EDITED, STAFF_INVITED
from staff.rights import ALL_ROLES

# The emergency account's name. Nobody else can have it, and names never change, so there is at most one.
BREAK_GLASS = "break-glass"


def languages() -> list[tuple[str, str]]:
    """The languages of the pages, by code; a new one needs no migration."""
    return list(settings.LANGUAGES)


LIMITS = ("per_order", "per_day", "approval_above")


# The transaction that noted the rights of each role: a later right has a separate event.
_RIGHTS_SAID = f"(SELECT min(txid) FROM audit_auditevent WHERE kind = '{ROLE_EDITED.key}' AND subject = '{ALL_ROLES}')"  # noqa: S608 - our words
# No event of the same transaction is about this person.
_UNSAID = "NOT EXISTS (SELECT FROM audit_auditevent said WHERE said.txid = new.txid AND said.subject = {})"
_NAME = "(SELECT username FROM staff_user WHERE id = new.user_id)"


def _not_negative(prefix: str = "") -> Q:
    """Each limit is empty or at least 0."""
    wanted = Q()
    for name in LIMITS:
        wanted &= Q(**{f"{prefix}{name}": None}) | Q(**{f"{prefix}{name}__gte": 0})
    return wanted


class StaffQuerySet(models.QuerySet["User"]):
    def matching(self, text: str) -> StaffQuerySet:
        """People whose name or user name contains each typed word; a shop has dozens of people, not thousands."""
        people = self
        for word in text.split():
            in_name = Q(first_name__icontains=word) | Q(last_name__icontains=word)
            people = people.filter(Q(username__icontains=word) | in_name)
        return people

    def with_rights(self) -> StaffQuerySet:
        """With `held` and `group_names`, as `staff.backends` reads them for a request's person; no further query."""
        own = OwnPermission.objects.filter(user_id=OuterRef(OuterRef("pk"))).values("permission_id")
        of_roles = RolePermission.objects.filter(group__user=OuterRef(OuterRef("pk"))).values("permission_id")
        held = Permission.objects.filter(Q(pk__in=own) | Q(pk__in=of_roles)).order_by()
        named = held.values(name_in_full=Concat("content_type__app_label", Value("."), "codename"))
        groups = Group.objects.filter(user=OuterRef("pk")).order_by("name")
        return self.annotate(  # type: ignore[no-redef] # the model names what this adds
            held=ArraySubquery(named), group_names=ArraySubquery(groups.values("name"))
        )

    def for_table(self, now: dt.datetime) -> StaffQuerySet:
        """With the roles' groups, the kinds of second `factors`, `link_until` (the end of an open link), `had_link`
        (one was made at some time), `session_count` (open at `now`) and `claimed`: the last role by the provider, or
        None."""
        links = SocialAccount.objects.filter(user=OuterRef("pk"), provider=settings.OIDC_ISSUER).order_by("pk")
        open_link = AccessLink.objects.filter(person=OuterRef("pk"), used_at=None, withdrawn_at=None)
        sessions = Session.objects.filter(person=OuterRef("pk"), expire_date__gt=now).order_by().values("person")
        factors = Authenticator.objects.filter(user=OuterRef("pk")).exclude(type="recovery_codes")
        return self.prefetch_related("groups").annotate(
            factors=ArraySubquery(factors.order_by("pk").values("type")),
            link_until=Subquery(open_link.values("expires_at")),
            had_link=Exists(AccessLink.objects.filter(person=OuterRef("pk"))),
            claimed=Subquery(links.values(said=KeyTextTransform("role", "extra_data"))[:1]),
            session_count=Coalesce(Subquery(sessions.annotate(n=models.Count("pk")).values("n")), 0),
        )

    def who_see(self, branch: int) -> StaffQuerySet:
        """The people who see this branch: those who see all branches, or only this one."""
        return self.filter(Q(bound_since=None) | Q(branch=branch))

    def joined(self) -> StaffQuerySet:
        """The people who have ever chosen a password, or need none."""
        return self.exclude(is_oidc=False, password__startswith=UNUSABLE_PASSWORD_PREFIX)


class StaffManager(UserManager.from_queryset(StaffQuerySet)):  # type: ignore[misc]
    """Django's manager of people, with our queries."""

    def holding(self, right: Right) -> StaffQuerySet:
        """The active people who hold this right; owners hold all."""
        people: StaffQuerySet = self.with_perm(right, backend="staff.backends.StaffBackend")
        return people

    def create_superuser(self, username: str, *args: Any, **facts: Any) -> User:
        """An owner made by Django's own command, with the event that each new owner has."""
        from audit.services import record  # noqa: PLC0415 - it needs the people's model

        with transaction.atomic():
            person: User = super().create_superuser(username, *args, **facts)
            record(STAFF_INVITED, subject=person.username, after={"role": "owner"})
        return person


class User(AbstractUser):
    """A member of staff, with the language and the look that this person chose."""

    class Theme(models.TextChoices):
        AUTO = "auto", _("Same as device")
        LIGHT = "light", _("Light")
        DARK = "dark", _("Dark")

    class Endings(models.TextChoices):
        """The sound and the notice for this person at the end of an own order."""

        OFF = "off", _("Nothing more")
        SOUND = "sound", _("Sound")
        NOTICE = "notice", _("Desktop notice")
        BOTH = "both", _("Both")

    language = models.CharField(
        max_length=10, blank=True, choices=languages, help_text="If empty, the browser's language."
    )
    theme = models.CharField(max_length=5, choices=Theme.choices, default=Theme.AUTO)
    endings = models.CharField(max_length=6, choices=Endings.choices, default=Endings.OFF)
    note = models.CharField(_("note"), max_length=300, blank=True)
    is_oidc = models.BooleanField(default=False, help_text="Signs in through the provider that OIDC_ISSUER names.")
    is_demo = models.BooleanField(default=False, help_text="Made for the sandbox; never active with a real upstream.")
    has_tips = models.BooleanField(default=False, help_text="In a demo: sees on the overview what to try.")
    password_mark = models.GeneratedField(
        expression=models.Func("password", template="encode(sha256(%(expressions)s::bytea), 'hex')"),
        output_field=models.CharField(max_length=64),
        db_persist=True,
        help_text="Shows in the history that the password has changed, without its hash.",
    )
    branch = models.ForeignKey(
        Branch, db_default=FIRST, on_delete=models.PROTECT, related_name="people", db_index=False
    )
    bound_since = models.DateTimeField(null=True, help_text="Since then the person sees only the own branch.")
    device_epoch = models.PositiveIntegerField(
        default=0, help_text="When it is raised, no known device of this person is trusted any more."
    )

    # Own limits, in whole rupiah; each overrides the role's. Empty: those of the role.
    own_per_order = models.BigIntegerField(null=True, blank=True)
    own_per_day = models.BigIntegerField(null=True, blank=True)
    own_approval_above = models.BigIntegerField(null=True, blank=True)

    objects: ClassVar[StaffManager] = StaffManager()

    #: Not stored: the group names and the role's limits of the person of a request (`staff.backends`).
    group_names: list[str]
    role_limits: list[int | None]

    # Conditions that a verification of the audit checks in a copy (`new`) and the one before it (`old`).
    copy_rules: ClassVar[dict[str, str]] = {
        "owner_without_event": "new.is_superuser AND (new.pgh_label = 'insert' OR NOT old.is_superuser)"
        f" AND {_UNSAID.format('new.username')}",
        "switched_on_without_event": f"new.is_active AND NOT old.is_active AND {_UNSAID.format('new.username')}",
        "hash_by_hand": "new.password_mark <> old.password_mark AND new.pgh_context IS NULL"
        f" AND {_UNSAID.format('new.username')}",
        "limits_without_event": "old.pgh_id IS NOT NULL"
        " AND (old.own_per_order, old.own_per_day, old.own_approval_above) IS DISTINCT FROM"
        " (new.own_per_order, new.own_per_day, new.own_approval_above)"
        f" AND {_UNSAID.format('new.username')}",
        "binding_without_event": "old.pgh_id IS NOT NULL AND old.bound_since IS DISTINCT FROM new.bound_since"
        f" AND {_UNSAID.format('new.username')}",
    }

    #: Whether this person signed in by PIN, at a till (`tills.models.PinPerson`).
    by_pin: ClassVar[bool] = False

    class Meta:
        default_permissions = ()
        permissions = Right.of("staff.user")
        db_table = "staff_user"
        constraints = [
            models.UniqueConstraint(Upper("username"), name="staff_user_name_in_any_case"),
            models.CheckConstraint(condition=_not_negative("own_"), name="staff_user_limits_not_negative"),
            models.CheckConstraint(
                condition=Q(bound_since=None) | Q(is_superuser=False), name="staff_user_owner_sees_all"
            ),
        ]

    def get_absolute_url(self) -> str:
        return reverse("staff_detail", args=[self.pk])

    @property
    def shown_name(self) -> str:
        """The full name; the user name where nobody typed one."""
        return self.get_full_name() or self.username

    @property
    def sells_in(self) -> int:
        """The key of the branch in which this person sells without a drawer."""
        return self.branch_id

    @property
    def bound_to(self) -> int | None:
        """The key of the only branch that this person sees; None for a person who sees all."""
        return self.branch_id if self.bound_since else None

    @property
    def has_joined(self) -> bool:
        """Whether this person has ever chosen a password, or needs none."""
        return self.is_outside or self.has_usable_password()

    @property
    def is_outside(self) -> bool:
        """Whether this person signs in only through the provider, which also decides the role."""
        return self.is_oidc and bool(settings.OIDC_ISSUER)


class Membership(User.groups.through):  # type: ignore[misc, name-defined]
    """A person in a group; a model of our room, so that it has a history."""

    copy_rules: ClassVar[dict[str, str]] = {
        "role_without_event": f"new.pgh_label = 'insert' AND {_UNSAID.format(_NAME)}"
    }

    class Meta:
        proxy = True
        default_permissions = ()


class OwnPermission(User.user_permissions.through):  # type: ignore[misc, name-defined]
    """A right of one person in addition to the roles."""

    copy_rules: ClassVar[dict[str, str]] = {
        "right_without_event": f"new.pgh_label = 'insert' AND {_UNSAID.format(_NAME)}"
    }

    class Meta:
        proxy = True
        default_permissions = ()


class RoleGroup(Group):
    """A group of Django's, which is a role."""

    copy_rules: ClassVar[dict[str, str]] = {"role_renamed": "old.name <> new.name"}

    class Meta:
        proxy = True
        default_permissions = ()


class RolePermission(Group.permissions.through):  # type: ignore[misc, name-defined]
    """A right of a role."""

    copy_rules: ClassVar[dict[str, str]] = {
        "right_of_role_without_event": f"new.pgh_label = 'insert' AND new.txid > {_RIGHTS_SAID}"  # noqa: S608
        f" AND {_UNSAID.format('(SELECT name FROM auth_group WHERE id = new.group_id)')}"
    }

    class Meta:
        proxy = True
        default_permissions = ()


class Factor(Authenticator):  # type: ignore[misc]
    """A second factor of allauth's; a model of our room, so that it has a history."""

    class Meta:
        proxy = True
        default_permissions = ()


class OutsideAccount(SocialAccount):  # type: ignore[misc]
    """A person's account at the provider of OIDC_ISSUER."""

    class Meta:
        proxy = True
        default_permissions = ()


class RoleLimits(models.Model):
    """The limits of one role, in whole rupiah; empty: any amount. Only `staff.services` changes it."""

    copy_rules: ClassVar[dict[str, str]] = {
        "limits_without_event": "(old.per_order, old.per_day, old.approval_above)"
        " IS DISTINCT FROM (new.per_order, new.per_day, new.approval_above)"
        f" AND {_UNSAID.format('new.role')}"
    }

    role = models.CharField(max_length=20, primary_key=True, help_text="A value of `core.rights.Role`.")
    per_order = models.BigIntegerField(null=True, blank=True)
    per_day = models.BigIntegerField(null=True, blank=True)
    approval_above = models.BigIntegerField(null=True, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=_not_negative(), name="role_limits_not_negative")]

    def __str__(self) -> str:
        return self.role


class Session(AbstractBaseSession):
    """A signed-in browser. `staff.sessions` writes the person in addition to Django's columns."""

    person = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="sessions")

    class Meta:
        db_table = "staff_session"

    def __str__(self) -> str:
        return f"session of {self.person_id}"


class AccessLink(models.Model):
    """A single-use link with which a person chooses a password. Only the digest of its token is kept."""

    class Purpose(models.TextChoices):
        INVITE = "invite", _("Invitation")
        RESET = "reset", _("New password")

    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="links")
    purpose = models.CharField(max_length=6, choices=Purpose.choices)
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the token, in hexadecimal digits.")
    made_by = models.ForeignKey(
        User, null=True, on_delete=models.PROTECT, related_name="+", help_text="Empty: a command made it."
    )
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["person"],
                condition=Q(used_at__isnull=True, withdrawn_at__isnull=True),
                name="access_link_one_open",
            ),
            models.CheckConstraint(
                condition=Q(used_at__isnull=True) | Q(withdrawn_at__isnull=True), name="access_link_ends_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} of {self.person_id}"


class Throttle(models.Model):
    """The number of guesses under one key, and the time before which nobody may guess again."""

    key = models.CharField(primary_key=True, max_length=64, help_text="Keyed hash of what is counted together.")
    failures = models.PositiveIntegerField()
    blocked_until = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.failures} guesses"


class SpentChallenge(models.Model):
    """A challenge that a passkey has answered: kept until it expires, so that its answer counts only once."""

    digest = models.CharField(primary_key=True, max_length=64)
    expires_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"spent until {self.expires_at}"


# Secrets, and choices that only the person sees, are not copied.
UserHistory = history_of(
    User,
    exclude=["password", "password_mark", "last_login", "language", "theme", "endings", "has_tips"],
    more={"password_mark": models.CharField(max_length=64)},
)
MembershipHistory = history_of(Membership, room="staff")
OwnPermissionHistory = history_of(OwnPermission, room="staff")
RoleGroupHistory = history_of(RoleGroup, room="staff")
RolePermissionHistory = history_of(RolePermission, room="staff")
RoleLimitsHistory = history_of(RoleLimits)
FactorHistory = history_of(Factor, exclude=["data", "last_used_at"])
OutsideAccountHistory = history_of(OutsideAccount, exclude=["extra_data", "last_login"])
AccessLinkHistory = history_of(AccessLink, exclude=["digest"])
