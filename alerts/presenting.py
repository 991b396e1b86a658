"""Alerts as the pages show them, to one person."""

from __future__ import annotations

import datetime as dt
import zlib
from dataclasses import dataclass

from django.utils import timezone
from django.utils.translation import gettext as _

from alerts.kinds import KINDS, in_words
from alerts.kinds.kind import Words
from alerts.models import Alert, Severity
from alerts.services import Hidden, Pause, snoozes_question
from approvals.services import waiting_for
from complaints.models import Complaint
from core.together import read_together
from drawers.models import Refund
from gateway.models import UpstreamAccount
from shop.services import shop_of, shop_question
from staff.models import User

# So many are described; there is a page with all of them.
_DESCRIBED = 20
_WAITING_COUNTED = 100


@dataclass(frozen=True)
class Line:
    """What one person reads of one alert. `alert`: None for what the upstream's own account says; that stays."""

    code: str
    look: tuple[str, str]
    severity: str
    words: Words
    since: dt.datetime
    alert: Alert | None = None
    hidden_until: dt.datetime | None = None

    @property
    def is_critical(self) -> bool:
        """Whether it comes before the others."""
        return self.look[1] == Severity.CRITICAL.look[1]


@dataclass(frozen=True)
class Head:
    """The head of every page: what is wrong, the worst first, and what the person hid for a while."""

    account: UpstreamAccount
    lines: list[Line]
    #: How many more there are than `lines`.
    rest: int
    hidden: list[Line]
    #: How many approvals wait for this person, up to a hundred.
    waiting: int
    #: How many customers are to get money back, up to a hundred.
    to_give_back: int
    #: How many complaints are not closed, up to a hundred.
    complaints: int
    shop_name: str

    @property
    def pauses(self) -> list[tuple[str, str]]:
        """For how long an alert can be hidden: value and words."""
        return [(pause.value, str(pause.label)) for pause in Pause]

    @property
    def others(self) -> int:
        """How many there are beside the worst."""
        return self.count - 1

    @property
    def count(self) -> int:
        """How many alerts are shown."""
        return len(self.lines) + self.rest

    @property
    def version(self) -> str:
        """Another one when the head says something else, relative times apart."""
        said = [(line.severity, line.since, line.words, line.hidden_until) for line in (*self.lines, *self.hidden)]
        return f"{zlib.crc32(repr((said, self.rest, self.waiting, self.to_give_back, self.complaints)).encode()):x}"


def head_for(user: User) -> Head:
    """What concerns this person: the upstream's state from its first second on, then the open alerts."""
    kinds = [code for code in kinds_for(user) if not KINDS[code].is_in_banner]
    accounts, alerts, snoozes, waiting, refunds, complaints, shops = read_together(
        UpstreamAccount.objects.filter(only=True),
        Alert.objects.open().filter(kind__in=kinds),
        snoozes_question(user),
        waiting_for(user).values_list("pk")[:_WAITING_COUNTED],
        Refund.objects.open().values_list("pk")[:_WAITING_COUNTED],
        Complaint.objects.open().values_list("pk")[:_WAITING_COUNTED],
        shop_question(),
    )
    account, now = accounts[0] if accounts else UpstreamAccount(), timezone.now()
    hidden = {one.alert: one.until for one in map(Hidden._make, snoozes) if _covers(one, alerts, now)}
    shown = [alert for alert in alerts if alert.pk not in hidden]
    lines = [*_of_account(account), *(_line(alert, user) for alert in shown[:_DESCRIBED])]
    return Head(
        account=account,
        lines=sorted(lines, key=lambda line: line.is_critical, reverse=True),
        rest=len(shown[_DESCRIBED:]),
        hidden=[_line(alert, user, hidden[alert.pk]) for alert in alerts if alert.pk in hidden],
        waiting=len(waiting),
        to_give_back=len(refunds),
        complaints=len(complaints),
        shop_name=shop_of(shops).name,
    )


def _covers(hidden: Hidden, alerts: list[Alert], now: dt.datetime) -> bool:
    return any(alert.pk == hidden.alert and hidden.covers(alert, now) for alert in alerts)


def _line(alert: Alert, user: User, hidden_until: dt.datetime | None = None) -> Line:
    return Line(
        code=alert.kind,
        look=alert.look,
        severity=alert.get_severity_display(),
        words=in_words(alert, user),
        since=alert.opened_at,
        alert=alert,
        hidden_until=hidden_until,
    )


def _of_account(account: UpstreamAccount) -> list[Line]:
    """That the upstream refuses us, or answers nothing: what every order waits for."""
    if account.refused_since:
        words = Words(
            title=_("The upstream refuses our account (%(code)s).") % {"code": account.refused_code},
            facts=_(
                "Nothing is sent until an admin has corrected this. New orders wait; looking things up still works."
            ),
            next_step="",
        )
        return [_upstream_line("upstream-refuses", Severity.CRITICAL, words, account.refused_since)]
    if account.unreachable_since:
        words = Words(
            title=_("The upstream cannot be reached."),
            facts=_("New orders wait and are sent when it answers again. Looking things up still works."),
            next_step="",
        )
        return [_upstream_line("upstream-unreachable", Severity.WARNING, words, account.unreachable_since)]
    return []


def _upstream_line(code: str, severity: Severity, words: Words, since: dt.datetime) -> Line:
    icon = "lock" if severity is Severity.CRITICAL else "plug-connected-x"
    return Line(code=code, look=(icon, severity.look[1]), severity=str(severity.label), words=words, since=since)


def kinds_for(user: User) -> list[str]:
    """The kinds of alert that concern this person."""
    return [code for code, kind in KINDS.items() if user.has_perm(kind.permission)]
