"""Counts the PINs that were hashed with a former SECRET_KEY."""

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _

from core.resealing import SealedRows, register
from core.sealing import Opens
from tills.services.pins import keys_of_pins


@register
class PinHashes(SealedRows):
    """PINs that count. Only their people know them, so a PIN moves to the present key at its next use."""

    name = "pins"
    words = _("PINs")
    moves_at_use = True

    def each(self) -> Iterator[tuple[str, Opens]]:
        yield from keys_of_pins()
