"""Alerts as the pages show them, to one person."""

import zlib
from dataclasses import dataclass

from alerts.kinds import KINDS, in_words
from alerts.kinds.kind import Words
from alerts.models import Alert
from approvals.services import waiting_for
from core.together import read_together
from gateway.models import UpstreamAccount
from shop.services import shop_of, shop_question
from staff.models import User

# So many are shown in full on every page.
_SHOWN = 2
_WAITING_COUNTED = 100


@dataclass(frozen=True)
class Head:
    """The head of every page: how the upstream answers, the gravest open alerts in full, the others to be counted."""

    account: UpstreamAccount
    shown: list[tuple[Alert, Words]]
    rest: list[Alert]
    #: How many approvals wait for this person, up to a hundred.
    waiting: int
    shop_name: str

    @property
    def version(self) -> str:
        """Another one when the head says something else, relative times apart."""
        account = (self.account.refused_code, self.account.refused_since, self.account.unreachable_since)
        said = [(alert.severity, alert.opened_at, words) for alert, words in self.shown]
        return f"{zlib.crc32(repr((account, said, len(self.rest), self.waiting)).encode()):x}"


def head_for(user: User) -> Head:
    """What concerns this person, without what the upstream's own banner says already."""
    kinds = [code for code in kinds_for(user) if not KINDS[code].is_in_banner]
    accounts, alerts, waiting, shops = read_together(
        UpstreamAccount.objects.filter(only=True),
        Alert.objects.open().filter(kind__in=kinds),
        waiting_for(user).values_list("pk")[:_WAITING_COUNTED],
        shop_question(),
    )
    shown = [(alert, in_words(alert, user)) for alert in alerts[:_SHOWN]]
    account = accounts[0] if accounts else UpstreamAccount()
    return Head(account=account, shown=shown, rest=alerts[_SHOWN:], waiting=len(waiting), shop_name=shop_of(shops).name)


def kinds_for(user: User) -> list[str]:
    """The kinds of alert that concern this person."""
    return [code for code, kind in KINDS.items() if user.has_perm(kind.permission)]
