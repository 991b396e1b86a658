"""The words of an incident, in the person's language. Its row keeps the evidence as it was written."""

import re

from django.utils.translation import gettext_lazy as _

from core.money import rupiah
from purchases.states import Status

_QUOTED = "(?:'.*'|\".*\")"
# The sentences that the services write (`record_incident`), and their words. Quoted parts are the upstream's own.
_SENTENCES = [
    (re.compile(pattern), words)
    for pattern, words in (
        (rf"(?P<sn>{_QUOTED}) is also the SN of (?P<order>\S+)", _("%(sn)s is also the SN of %(order)s")),
        (
            rf"(?P<trx_id>{_QUOTED}) is also the trx_id of (?P<order>\S+)",
            _("%(trx_id)s is also the trx_id of %(order)s"),
        ),
        (rf"the SN is (?P<sn>{_QUOTED})", _("the SN is %(sn)s")),
        ("there is no SN", _("there is no SN")),
        (
            r"(?P<said>\S+) is reported for an order that is (?P<status>\S+)",
            _("“%(said)s” is reported for an order that is “%(status)s”"),
        ),
        (
            rf"another SN than (?P<before>{_QUOTED}) is reported: (?P<sn>{_QUOTED})",
            _("another SN is reported: %(sn)s instead of %(before)s"),
        ),
        (
            rf"product (?P<said>{_QUOTED}) instead of (?P<before>{_QUOTED})",
            _("product %(said)s instead of %(before)s"),
        ),
        ("the destination is not the order's", _("the destination is not the order's")),
        (
            rf"a second trx_id than (?P<before>{_QUOTED}): (?P<said>{_QUOTED})",
            _("a second trx_id besides %(before)s: %(said)s"),
        ),
        (
            r"reported without a price, taken to be (?P<price>\d+) rupiah",
            _("reported without a price, taken to be %(price)s"),
        ),
        (
            r"another price than (?P<cost>\d+) is reported: (?P<price>\d+)",
            _("another price is reported: %(price)s instead of %(cost)s"),
        ),
        (
            r"charged (?P<price>\d+), confirmed were (?P<cost>\d+) rupiah",
            _("charged %(price)s, confirmed %(cost)s"),
        ),
        (
            r"accepted as (?P<before>\S*), now the status request says not found",
            _("accepted as %(before)s, now the status request says not found"),
        ),
    )
]
_AMOUNTS, _STATUSES = {"price", "cost"}, {"said", "status"}


def incident_words(detail: str) -> str:
    """The detail of an incident in the person's language; unchanged if it is none of our sentences."""
    for pattern, words in _SENTENCES:
        if match := pattern.fullmatch(detail):
            return str(words) % {name: _shown(name, part) for name, part in match.groupdict().items()}
    return detail


def _shown(name: str, part: str) -> str:
    if name in _AMOUNTS:
        return rupiah(int(part))
    return str(Status(part).label) if name in _STATUSES and part in Status.values else part
