"""The addresses of ways that were added on a page, sealed again with the present SECRET_KEY."""

from collections.abc import Iterator

from django.utils.translation import gettext_lazy as _

from alerts.models import AddedWay
from alerts.services.ways import PURPOSE
from core.resealing import SealedRows, register
from core.sealing import Opens, opened_by, sealed, unsealed


@register
class WayAddresses(SealedRows):
    """Each address holds a token or a password."""

    name = "alert_ways"
    words = _("Ways of alerts")

    def each(self) -> Iterator[tuple[str, Opens]]:
        for way in AddedWay.objects.order_by("pk"):
            yield f"{way}", opened_by(way.sealed_address, PURPOSE)

    def reseal(self) -> int:
        count = 0
        for pk, kept in AddedWay.objects.order_by("pk").values_list("pk", "sealed_address"):
            if opened_by(kept, PURPOSE) is Opens.FORMER:
                again = sealed(unsealed(kept, PURPOSE), PURPOSE)
                # a row that was deleted meanwhile does not come back
                count += AddedWay.objects.filter(pk=pk, sealed_address=kept).update(sealed_address=again)
        return count
