"""How a till stands, in words."""

from __future__ import annotations

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from core.icons import badge
from tills.models import Till
from tills.services.guessing import seconds_locked


def standing_badge(till: Till) -> SafeString:
    """Icon, words and colour: on, PINs locked, or switched off."""
    if not till.is_on:
        return badge(("device-desktop-off", "off"), _("Switched off"))
    if seconds_locked(till):
        return badge(("lock", "bad"), _("PINs locked"))
    return badge(("device-desktop", "good"), _("On"))
