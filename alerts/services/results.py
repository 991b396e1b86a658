"""The result of the day each evening, and of the week on Mondays, by the ways of alerts.

A result leaves at most once on each way. It is claimed in a short transaction, sent outside of any, then noted. If the
process ended in between, or nothing came back in time, it may have arrived: it is not sent again, and the page says
this. After a definite no it is tried again until the next result is due. The next result names those that were never
sent.
"""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import structlog
from apprise import NotifyType
from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from alerts.events import RESULTS_CHOSEN
from alerts.models import ResultChoice, ResultMessage
from alerts.services.ways import Fault, Way, send_to_all, ways
from audit.services import record
from core import clock
from core.money import rupiah
from core.rights import Right
from core.times import day_words, start_of_day
from earnings.periods import OWN, Chosen
from earnings.presenting import BY, Report, Tile, report_of, tiles_of
from earnings.services import Period
from ledger.presenting import Funds, lasts_words
from ledger.services import usual_spending_per_hour
from policies.services import policies
from shop.services import current_shop, shop_name
from staff.models import User
from work.services import open_work

log = structlog.get_logger()
Span = ResultMessage.Span
State = ResultMessage.State

#: The rights that a person needs to have results sent: all that a result shows.
RIGHTS = (Right.VIEW_ORDERS, Right.VIEW_SHIFTS, Right.VIEW_COST, Right.VIEW_BOOKS)
# When the result of a day is due in a shop without opening hours; the result of a week is due on Monday morning.
_EVENING, _MONDAY_AT = dt.time(21), dt.timedelta(hours=7)
_ONE_DAY, _WEEK = dt.timedelta(days=1), dt.timedelta(days=7)
# Longer than the deadline of a message: the process of a claim this old has ended.
_CLAIM = dt.timedelta(seconds=60)
_LONGEST_WAIT = dt.timedelta(hours=1)
_TOP = 3
# The name, an amount of a week and a change fit side by side on a phone.
_LONGEST_NAME = 13
Row = tuple[str, str, str]


class Message(NamedTuple):
    """The text that people read. `table`: aligned lines that come first."""

    title: str
    table: str
    text: str


@dataclass(frozen=True)
class Result:
    """A result that is due at `at`; its period begins on `day`."""

    span: Span
    day: dt.date
    at: dt.datetime

    @property
    def chosen(self) -> Chosen:
        """Its period up to the moment at which it was due, against the week before."""
        length = _WEEK if self.span is Span.WEEKLY else _ONE_DAY
        since = start_of_day(self.day)
        until = min(self.at, since + length)
        return Chosen(OWN, Period(since, until), Period(since - _WEEK, until - _WEEK))


def send_results() -> None:
    """Send the latest result of each kind, if somebody chose it and it has not left. Safe at any time, at once."""
    now = clock.now()
    for result in latest_results(now):
        readers = _readers(result)
        open_ways = [way for way in ways() if _is_open(result, way)] if readers else []
        if not open_ways:
            continue
        with translation.override(_language([choice.person for choice in readers])):
            title, table, text = message_of(result, readers[0].person)
            for way in open_ways:
                missed = _missed(result, way, since=max(readers[0].chosen_at, way.since))
                message = Message(f"[{shop_name()}] {title}", table, "\n".join([text, *missed]))
                _send_once(result, way, now, message)


def send_test(*, person: User) -> list[tuple[Way, str | Promise]]:
    """Send the result of today until now on every way; what became of each as `send_to_all` returns it."""
    now = clock.now()
    result = Result(Span.EVENING, timezone.localdate(now), now)
    with translation.override(_language([person])):
        title, table, text = message_of(result, person)
        return send_to_all(f"{_('Test')}: {title}", text, table=table)


def _language(readers: Iterable[User]) -> str:
    """The language that these people chose; the shop's if they chose none or several."""
    chosen = {person.language for person in readers if person.language}
    return chosen.pop() if len(chosen) == 1 else current_shop().language or settings.LANGUAGE_CODE


def may_choose_results(person: User) -> bool:
    """Whether this person sees all that a result says: the whole shop's figures."""
    return person.has_perms(RIGHTS) and person.bound_to is None


def gets_evenings(person: User) -> bool:
    """Whether this person has chosen the result of each day."""
    return ResultChoice.objects.filter(person=person, evening=True).exists()


def choose_results(*, evening: bool, weekly: bool, person: User) -> None:
    """Keep what this person wants to be sent from now on."""
    with transaction.atomic():
        ResultChoice.objects.update_or_create(
            person=person, defaults={"evening": evening, "weekly": weekly, "chosen_at": clock.now()}
        )
        record(RESULTS_CHOSEN, actor=person, subject=person.username, facts={"evening": evening, "weekly": weekly})


def latest_results(now: dt.datetime) -> list[Result]:
    """The results that were due last at this moment: of a day, and of a week."""
    today = timezone.localdate(now)
    monday = today - dt.timedelta(days=today.weekday())
    evenings = (_evening(today - number * _ONE_DAY) for number in range(3))
    weeks = (Result(Span.WEEKLY, day - _WEEK, start_of_day(day) + _MONDAY_AT) for day in (monday, monday - _WEEK))
    return [next(result for result in results if result.at <= now) for results in (evenings, weeks)]


def _evening(day: dt.date) -> Result:
    """The result of this day. It is due when the shop closes; if that is after midnight, on the day after."""
    opens, closes = policies().opens_at, policies().closes_at or _EVENING
    closing_day = day if opens is None or opens < closes else day + _ONE_DAY
    return Result(Span.EVENING, day, start_of_day(closing_day) + dt.timedelta(hours=closes.hour, minutes=closes.minute))


def _readers(result: Result) -> list[ResultChoice]:
    """The choices, made before it was due, of people who may see the result; the oldest first."""
    chosen = ResultChoice.objects.filter(**{result.span.value: True}, chosen_at__lte=result.at)
    choices = chosen.select_related("person").order_by("chosen_at")
    return [choice for choice in choices if may_choose_results(choice.person)]


def message_of(result: Result, reader: User) -> Message:
    """The message in the active language; it counts the work that waits for this reader."""
    chosen = result.chosen
    reports = [report_of(chosen, by) for by in ("brand", "person")]
    totals = [_total(tile) for tile in tiles_of(reports[0].now, reports[0].before, with_cost=True)]
    lines = [f"▲▼ {chosen.against}", _("Needs attention: %(n)s") % {"n": len(open_work(reader))}]
    if (available := Funds.now().available) is not None:
        lasts = lasts_words(available, usual_spending_per_hour())
        lines.append(_("Balance: %(amount)s") % {"amount": rupiah(available)} + (f" ({lasts})" if lasts else ""))
    if settings.SITE_URL:
        lines.append(f"{settings.SITE_URL.rstrip('/')}{reverse('earnings')}?{chosen.query}")
    table = _table([totals, *map(_tops, reports)])
    return Message(f"{result.span.label}: {chosen.words}", table, "\n".join(lines))


def _total(tile: Tile) -> Row:
    change = tile.change
    return tile.words, tile.shown, f"{'▲' if change.is_up else '▼'}{change.words}" if change else ""


def _tops(report: Report) -> list[Row]:
    """The first lines of the report that sold, below the name of its split; none if nothing sold."""
    rows = [line for line in report.lines[:_TOP] if line.figures.sold]
    tops = [(line.words, rupiah(line.figures.sales), f"{line.figures.sold:n}") for line in rows]
    return [(str(BY[report.by]), "", ""), *tops] if tops else []


def _table(parts: Iterable[list[Row]]) -> str:
    """Rows of three columns, aligned by spaces, narrow enough for a phone; an empty line between the parts."""
    parts = [part for part in parts if part]
    names, amounts = (max(len(row[at]) for part in parts for row in part) for at in (0, 1))
    names = min(names, _LONGEST_NAME)

    def line(row: Row) -> str:
        name = row[0] if len(row[0]) <= names else f"{row[0][: names - 1]}…"
        return f"{name:{names}} {row[1]:>{amounts}} {row[2]}".rstrip()

    return "\n\n".join("\n".join(map(line, part)) for part in parts)


def _missed(result: Result, way: Way, *, since: dt.datetime) -> list[str]:
    """A line that names the evenings of the last week that are not known to have arrived."""
    if result.span is not Span.EVENING:
        return []
    messages = ResultMessage.objects.filter(span=Span.EVENING, way=way.key, state=State.SENT)
    sent = set(messages.filter(day__gte=result.day - _WEEK).values_list("day", flat=True))
    before = (_evening(result.day - number * _ONE_DAY) for number in range(6, 0, -1))
    days = [day_words(each.day) for each in before if each.at >= since and each.day not in sent]
    return [_("Not sent before: %(days)s") % {"days": ", ".join(days)}] if days else []


def _is_open(result: Result, way: Way) -> bool:
    messages = ResultMessage.objects.filter(span=result.span, day=result.day, way=way.key)
    return way.since <= result.at and not messages.filter(state__in=[State.SENT, State.UNCLEAR]).exists()


def _send_once(result: Result, way: Way, now: dt.datetime, message: Message) -> None:
    claimed = _claim(result, way, now)
    if claimed is None:
        return
    fault = way.send(message.title, message.text, look=NotifyType.INFO, table=message.table)
    claimed.state = {None: State.SENT, Fault.FAILED: State.FAILED, Fault.NO_ANSWER: State.UNCLEAR}[fault]
    claimed.save(update_fields=["state"])
    log.info("result_sent", span=result.span.value, day=f"{result.day}", way=way.name, state=claimed.state)


def _claim(result: Result, way: Way, now: dt.datetime) -> ResultMessage | None:
    """The message, for us alone; None while another process sends it, once it has left, or before its next try."""
    with transaction.atomic():
        message, is_new = ResultMessage.objects.select_for_update().get_or_create(
            span=result.span,
            day=result.day,
            way=way.key,
            defaults={"service": way.name, "state": State.SENDING, "at": now},
        )
        if is_new:
            return message
        if message.state == State.SENDING and message.at < now - _CLAIM:
            message.state = State.UNCLEAR
            message.save(update_fields=["state"])
        if message.state != State.FAILED or now < message.at + _wait(message.tries):
            return None
        message.state, message.at, message.tries = State.SENDING, now, message.tries + 1
        message.save(update_fields=["state", "at", "tries"])
        return message


def _wait(tries: int) -> dt.timedelta:
    return min(_CLAIM * (1 << min(tries, 6)), _LONGEST_WAIT)
