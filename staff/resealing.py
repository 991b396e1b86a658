"""The secrets of second factors, sealed again with the present SECRET_KEY."""

from collections.abc import Iterator
from typing import Any

from allauth.mfa.models import Authenticator
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from core.resealing import SealedRows, register
from core.sealing import Opens, opened_by, sealed, unsealed
from staff.factor_store import PURPOSE

# The keys of `data` that allauth encrypts: an app's secret, and the seed of recovery codes
_SEALED = ("secret", "seed")


@register
class FactorSecrets(SealedRows):
    """Apps and recovery codes; a passkey has no secret here."""

    name = "factors"
    words = _("Second factors")

    def each(self) -> Iterator[tuple[str, Opens]]:
        for factor in _with_secret().select_related("user").order_by("user__username", "pk"):
            yield factor.user.username, _opened_by(factor)

    def reseal(self) -> int:
        count = 0
        for pk in _with_secret().order_by("pk").values_list("pk", flat=True):
            with transaction.atomic():  # using a code takes the same lock, because it changes `data`, too
                factor = _with_secret().select_for_update().filter(pk=pk).first()
                if factor and _opened_by(factor) is Opens.FORMER:
                    factor.data = {name: _sealed_again(name, value) for name, value in factor.data.items()}
                    factor.save(update_fields=["data"])
                    count += 1
        return count


def _with_secret() -> Any:
    return Authenticator.objects.exclude(type=Authenticator.Type.WEBAUTHN)


def _opened_by(factor: Authenticator) -> Opens:
    [text] = (factor.data[name] for name in _SEALED if name in factor.data)
    return opened_by(text, PURPOSE)


def _sealed_again(name: str, value: Any) -> Any:
    return sealed(unsealed(value, PURPOSE), PURPOSE) if name in _SEALED else value
