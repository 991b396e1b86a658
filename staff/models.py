"""The person who signs in."""

from django.conf import settings
from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _


def languages() -> list[tuple[str, str]]:
    """The languages of the pages, by code; a new one needs no migration."""
    return list(settings.LANGUAGES)


class User(AbstractUser):
    """A member of staff, with the language and the look that this person chose."""

    class Theme(models.TextChoices):
        AUTO = "auto", _("Same as device")
        LIGHT = "light", _("Light")
        DARK = "dark", _("Dark")

    language = models.CharField(max_length=10, blank=True, choices=languages, help_text="Empty: as the browser.")
    theme = models.CharField(max_length=5, choices=Theme.choices, default=Theme.AUTO)
    is_demo = models.BooleanField(default=False, help_text="Made for the sandbox; never active with a real upstream.")

    class Meta:
        db_table = "staff_user"
