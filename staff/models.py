"""The person who signs in, the browsers in which that person is signed in, and the links that open an account."""

from __future__ import annotations

import datetime as dt
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser, UserManager
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models
from django.db.models import OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, Upper
from django.urls import reverse
from django.utils.translation import gettext_lazy as _


def languages() -> list[tuple[str, str]]:
    """The languages of the pages, by code; a new one needs no migration."""
    return list(settings.LANGUAGES)


class StaffQuerySet(models.QuerySet["User"]):
    def matching(self, text: str) -> StaffQuerySet:
        """People whose name or user name holds what is typed; a shop has dozens of them, not thousands."""
        return self.filter(Q(username__icontains=text) | Q(first_name__icontains=text) | Q(last_name__icontains=text))

    def for_table(self, now: dt.datetime) -> StaffQuerySet:
        """With the roles' groups, `link_until` (the end of an open link) and `session_count` (open at `now`)."""
        open_link = AccessLink.objects.filter(person=OuterRef("pk"), used_at=None, withdrawn_at=None)
        sessions = Session.objects.filter(person=OuterRef("pk"), expire_date__gt=now).order_by().values("person")
        return self.prefetch_related("groups").annotate(
            link_until=Subquery(open_link.values("expires_at")),
            session_count=Coalesce(Subquery(sessions.annotate(n=models.Count("pk")).values("n")), 0),
        )


class StaffManager(UserManager.from_queryset(StaffQuerySet)):  # type: ignore[misc]
    """Django's manager of people, with our questions."""


class User(AbstractUser):
    """A member of staff, with the language and the look that this person chose."""

    class Theme(models.TextChoices):
        AUTO = "auto", _("Same as device")
        LIGHT = "light", _("Light")
        DARK = "dark", _("Dark")

    language = models.CharField(max_length=10, blank=True, choices=languages, help_text="Empty: as the browser.")
    theme = models.CharField(max_length=5, choices=Theme.choices, default=Theme.AUTO)
    note = models.CharField(_("note"), max_length=300, blank=True)
    is_demo = models.BooleanField(default=False, help_text="Made for the sandbox; never active with a real upstream.")

    objects: ClassVar[StaffManager] = StaffManager()

    class Meta:
        db_table = "staff_user"
        constraints = [models.UniqueConstraint(Upper("username"), name="staff_user_name_in_any_case")]
        permissions = [("manage_staff", "Can invite people, change their roles and switch accounts off")]

    def get_absolute_url(self) -> str:
        return reverse("staff_detail", args=[self.pk])

    @property
    def shown_name(self) -> str:
        """The full name; the user name where nobody typed one."""
        return self.get_full_name() or self.username

    @property
    def has_joined(self) -> bool:
        """Whether this person has ever chosen a password."""
        return self.has_usable_password()


class Session(AbstractBaseSession):
    """A signed-in browser. `staff.sessions` writes the person beside what Django keeps."""

    person = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="sessions")

    class Meta:
        db_table = "staff_session"

    def __str__(self) -> str:
        return f"session of {self.person_id}"

    @classmethod
    def get_session_store_class(cls) -> Any:
        from staff.sessions import SessionStore  # noqa: PLC0415 - it imports this model

        return SessionStore


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
