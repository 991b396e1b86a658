"""Alerts as the pages show them, to one person."""

import datetime as dt
import zlib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property, lru_cache

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from alerts.kinds import KINDS, in_words
from alerts.kinds.kind import Words
from alerts.models import Alert, Severity
from alerts.services import LONGEST, Hidden, Pause, snoozes_question
from core.rights import Right
from core.together import Given, Together
from gateway.models import UpstreamAccount
from shop.services import shop_of, shop_question
from staff.models import User
from work.kinds.kind import Scope
from work.services import given_now, own_work, scope_of

# How many alerts are described; a page has all of them.
_DESCRIBED = 20


@dataclass(frozen=True)
class Line:
    """One alert as one person reads it. `alert`: None for a line about our account at the upstream, which stays."""

    code: str
    look: tuple[str, str]
    severity: str
    words: Words
    since: dt.datetime
    alert: Alert | None = None
    hidden_until: dt.datetime | None = None

    @property
    def is_critical(self) -> bool:
        """Whether it is critical, and so comes before the others."""
        return self.look[1] == Severity.CRITICAL.look[1]


@dataclass(frozen=True)
class Head:
    """The head of every page: the worst problem, and the number of the others.

    The lines are put into words only when they are shown: every page shows the worst, few show all.
    """

    user: User
    account: UpstreamAccount
    #: The open alerts that are shown, the gravest first.
    shown: list[Alert]
    #: The open alerts that the person hid, with the time until which each is hidden.
    hidden_alerts: list[tuple[Alert, dt.datetime]]
    #: The number of work items that wait for this person, up to a hundred.
    work: int
    shop_name: str
    #: Whether the list of first steps is open, and the person works on it.
    has_first_steps: bool

    @property
    def pauses(self) -> list[tuple[str, str]]:
        """For how long an alert can be hidden: value and words."""
        return [(pause.value, str(pause.label)) for pause in Pause]

    @cached_property
    def worst(self) -> Line | None:
        """The line that every page shows; None when nothing is wrong."""
        return next(iter(self._first(1)), None)

    @property
    def lines(self) -> list[Line]:
        """The problems, the worst first; at most twenty alerts."""
        return self._first(_DESCRIBED)

    def _first(self, most: int) -> list[Line]:
        lines = [*_of_account(self.account, self.user), *(_line(alert, self.user) for alert in self.shown[:most])]
        return sorted(lines, key=lambda line: line.is_critical, reverse=True)

    @property
    def hidden(self) -> list[Line]:
        """The alerts that the person hid for a while."""
        return [_line(alert, self.user, until) for alert, until in self.hidden_alerts]

    @property
    def missing_at_bank(self) -> Line | None:
        """The open alert about payments that are missing at the bank, also while the person has hidden it."""
        every = [*self.shown, *(alert for alert, _until in self.hidden_alerts)]
        return next((_line(alert, self.user) for alert in every if alert.kind == "bank_missing"), None)

    @property
    def rest(self) -> int:
        """The number of alerts that are not in `lines`."""
        return len(self.shown[_DESCRIBED:])

    @property
    def count(self) -> int:
        """The number of shown alerts, with the line about our account at the upstream."""
        return len(_of_account(self.account, self.user)) + len(self.shown)

    @property
    def others(self) -> int:
        """The number of problems besides the worst."""
        return self.count - 1

    @property
    def version(self) -> str:
        """A text that changes when the head says something else; relative times do not count."""
        worst = self.worst and (self.worst.severity, self.worst.since, self.worst.words)
        alerts = [(alert.pk, alert.severity) for alert in self.shown]
        hidden = [(alert.pk, until) for alert, until in self.hidden_alerts]
        content = (worst, alerts, hidden, self.work)
        return f"{zlib.crc32(repr(content).encode()):x}"


def head_for(user: User) -> Head:
    """The lines for this person: the upstream's state from its first second on, then the open alerts."""
    kinds = tuple(code for code in kinds_for(user) if not KINDS[code].is_in_banner)
    now = timezone.now()
    accounts, alerts, snoozes, work, shops = _questions(kinds, scope_of(user)).read(
        person=user.pk, since=now - LONGEST, **given_now()
    )
    choices = {choice.alert: choice for choice in map(Hidden._make, snoozes)}
    hidden = [alert for alert in alerts if alert.pk in choices and choices[alert.pk].covers(alert, now)]
    shop = shop_of(shops)
    return Head(
        user=user,
        account=accounts[0] if accounts else UpstreamAccount(),
        shown=[alert for alert in alerts if alert not in hidden],
        hidden_alerts=[(alert, choices[alert.pk].until) for alert in hidden],
        work=len(work),
        shop_name=shop.name,
        has_first_steps=not settings.SANDBOX and shop.set_up_at is None and user.has_perm(Right.CHANGE_SHOP),
    )


@lru_cache
def _questions(kinds: tuple[str, ...], scope: Scope) -> Together:
    return Together(
        UpstreamAccount.objects.filter(only=True),
        Alert.objects.open().filter(_seen(kinds, scope.branch)),
        snoozes_question(Given("person"), Given("since")),
        own_work(scope),
        shop_question(),
    )


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


def _of_account(account: UpstreamAccount, user: User) -> list[Line]:
    """The line about what keeps every order waiting: a restore, or an upstream that refuses us or does not answer."""
    if account.is_held and account.restored_at and account.restored_to:
        words = KINDS["restored"].words({"until": account.restored_to.isoformat()}, user)
        return [_upstream_line("restored", Severity.CRITICAL, words, account.restored_at)]
    if account.refused_since:
        words = Words(
            title=_("The provider refuses our account (%(code)s).") % {"code": account.refused_code},
            facts=_(
                "Nothing is sent until an admin has corrected this. New orders wait; looking things up still works."
            ),
            next_step="",
        )
        return [_upstream_line("upstream-refuses", Severity.CRITICAL, words, account.refused_since)]
    if account.unreachable_since:
        words = Words(
            title=_("The provider cannot be reached."),
            facts=_("Until it answers, new orders wait or have no known outcome. Looking things up still works."),
            next_step="",
        )
        return [_upstream_line("upstream-unreachable", Severity.WARNING, words, account.unreachable_since)]
    return []


def _upstream_line(code: str, severity: Severity, words: Words, since: dt.datetime) -> Line:
    icon = "lock" if severity is Severity.CRITICAL else "plug-connected-x"
    return Line(code=code, look=(icon, severity.look[1]), severity=str(severity.label), words=words, since=since)


def alerts_for(user: User) -> QuerySet[Alert]:
    """The alerts that concern this person, open and ended ones."""
    return Alert.objects.filter(_seen(kinds_for(user), user.bound_to))


def _seen(kinds: Collection[str], branch: int | None) -> Q:
    """The condition for alerts of these kinds; with a branch, only for its alerts and the whole shop's."""
    if branch is None:
        return Q(kind__in=kinds)
    of_shop = [code for code in kinds if not KINDS[code].of_branch]
    return Q(kind__in=of_shop) | Q(kind__in=kinds, facts__branch=branch)


def kinds_for(user: User) -> list[str]:
    """The kinds of alert that concern this person."""
    return [code for code, kind in KINDS.items() if user.has_perm(kind.permission)]
