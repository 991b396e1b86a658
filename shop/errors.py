"""The reasons why a logo is refused."""

from django.utils.translation import gettext_lazy as _

from core.errors import ForReason


class LogoRefused(ForReason):
    """A file that is not a logo: "too_big", "format" or "size"."""

    texts = {
        "too_big": _("The file is larger than 256 KB. Save the picture smaller, and choose it again."),
        "format": _("This file is not a whole PNG, JPEG or WebP picture. Choose another one."),
        "size": _("The picture must be 16 to 2,000 pixels wide and high. Choose another one."),
    }
