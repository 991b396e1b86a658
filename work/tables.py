"""The list of work as a table."""

import datetime as dt
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from django.http import HttpRequest
from django.middleware.csrf import get_token
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy as _, npgettext, pgettext, pgettext_lazy

from core.looks import badge, icon
from core.tables import Row, Table, cell_from, column, row_link
from core.times import clock, hour, short_day
from work.kinds import KINDS
from work.kinds.kind import Line, WorkKind
from work.services import Item

# The headings above the rows of a group.
_HEADINGS = {"overdue": pgettext_lazy("work", "Overdue"), "today": _("Today"), "later": pgettext_lazy("work", "Later")}
# At 23:50, work that is due at 00:05 is not for later.
_SOON = dt.timedelta(hours=12)


def group_of(item: Item, now: dt.datetime) -> str:
    """The group of a row: "overdue", or due "today" or "later"; rows of the same minute are in one group.

    Work that is due within 12 hours is due "today", also after midnight.
    """
    minute = item.due.replace(second=0, microsecond=0)
    if minute <= now:
        return "overdue"
    is_soon = minute - now <= _SOON or _last_day(item) == timezone.localdate(now)
    return "today" if is_soon else "later"


def due_words(item: Item, now: dt.datetime) -> str:
    """The words for its delay, from ten minutes on in tens of them, then in whole hours or days; else `due_when`
    with the word for "due".
    """
    if group_of(item, now) != "overdue":
        return pgettext("work", "due %(when)s") % {"when": due_when(item, now)}
    tens = max(now - item.due, dt.timedelta()) // dt.timedelta(minutes=10)
    hours = tens // 6
    if not tens:
        return pgettext("work", "late")
    if not hours:
        return pgettext("work", "%(n)s min late") % {"n": 10 * tens}
    if hours < 24:
        return pgettext("work", "%(n)s h late") % {"n": hours}
    return npgettext("work", "%(n)s day late", "%(n)s days late", hours // 24) % {"n": hours // 24}


def due_when(item: Item, now: dt.datetime) -> str:
    """The hour, with "tomorrow" after midnight; "today" for the end of today; else the last day that is not late."""
    last = _last_day(item)
    if group_of(item, now) == "later":
        return short_day(last)
    if last > timezone.localdate(now):
        return gettext("tomorrow %(hour)s") % {"hour": hour(item.due)}
    return hour(item.due) if timezone.localdate(item.due) == last else pgettext("work", "today")


def _last_day(item: Item) -> dt.date:
    """The day on which it is due; for midnight the day that ends then."""
    return timezone.localdate(item.due - dt.timedelta(seconds=1))


@dataclass(frozen=True)
class Task:
    """One row: an item with its words, the name of the person who has taken it, and the branch, if the row names it.

    `doers`: the names of some people who can do it, shown if the reader cannot.
    """

    item: Item
    line: Line
    taker: str
    branch: str
    doers: str

    @property
    def pk(self) -> str:
        return f"{self.item.kind}-{self.item.key}"

    @property
    def kind(self) -> WorkKind:
        return KINDS[self.item.kind]


class WorkTable(Table[Task]):  # type: ignore[type-var] # rows of several models
    """Waiting work, with a person's next step. `is_work`: on the page of work, with numbers and headings."""

    caption = _("What waits for somebody, the first due on top")

    def __init__(self, tasks: Iterable[Task], *, request: HttpRequest, is_work: bool) -> None:
        super().__init__(tasks)
        self.request, self.now, self.is_work = request, timezone.now(), is_work

    def __iter__(self) -> Iterator[Row]:
        """The rows; the first one of each group with its heading."""
        last = ""
        for task, row in zip(self.rows, super().__iter__(), strict=True):
            group = group_of(task.item, self.now)
            is_first, last = self.is_work and group != last, group
            yield replace(row, heading=_HEADINGS[group]) if is_first else row

    @column(_("Kind"), phone="1 left")
    def kind(self, task: Task) -> str:
        """The state of the row, or its kind of work."""
        return task.line.state or task.kind.badge

    @column(pgettext_lazy("work", "What"), phone="2 left")
    def what(self, task: Task) -> SafeString:
        """The subject, as a link to the place of the step."""
        link = row_link(task.line.url, task.line.subject)
        branch = format_html(' <strong class="sub" data-of-branch>{}</strong>', task.branch) if task.branch else ""
        number = task.line.number if self.is_work else ""
        why = format_html("<strong>{}</strong>", task.line.urgent) if task.line.urgent else task.line.why
        why = format_html(' <span class="sub why">{}</span>', why) if why else ""
        about = format_html("{}{}{}", number, " · " if number and task.line.about else "", task.line.about)
        return format_html('{} <span class="sub">{}</span>{}{}', link, about, why, branch)

    @column(_("Amount"), css="num", phone="2 right")
    def amount(self, task: Task) -> str:
        """Rupiah that it is about."""
        return task.line.amount

    @column(_("Due"), css="sub nowrap", phone="1 right")
    def due(self, task: Task) -> SafeString:
        """The due time, or the delay; on the overview an icon replaces the word before the time."""
        due, waits, is_late = task.item.due, task.line.waits, group_of(task.item, self.now) == "overdue"
        is_short = not self.is_work and not is_late
        words = due_when(task.item, self.now) if waits or is_short else due_words(task.item, self.now)
        time = format_html('<time datetime="{}" title="{}">{}</time>', due.isoformat(), clock(due), words)
        if is_late:
            return format_html("<span data-overdue>{}</span>", badge(("alert-triangle", "bad"), time))
        before = gettext("Wait, latest") if waits else gettext("Due") if is_short else ""
        if is_short:
            before = format_html('{}<span class="visually-hidden">{}</span>', icon("clock"), before)
        return format_html("<span{}>{} {}</span>", SafeString(" data-waits" if waits else ""), before, time)

    @column(_("Next step"), css="actions-cell", phone="3 wide")
    def step(self, task: Task) -> SafeString:
        """The step that this person can take now, and the person who has taken the row."""
        token = get_token(self.request) if task.item.is_for_person else ""
        mine = task.item.taken_by == self.request.user.pk
        back = self.request.get_full_path() if self.request.path == reverse("work") else reverse("work")
        return cell_from("work/step.html", task=task, mine=mine, token=token, back=back)
