"""The shop's people by name or user name."""

from collections.abc import Iterator

from django.db.models import Case, When
from django.utils import timezone
from django.utils.translation import gettext as _

from branches.seeing import narrowed
from core import clock
from core.periods import Period
from find.kinds.asked import Asked
from find.kinds.kind import Result
from purchases.reading import CASHIER
from purchases.reading_days import days_at
from staff.models import User
from staff.presenting import standing_of
from staff.roles import role_of

# A name after one of these words asks for the person's limits.
_LIMITS = {"limit", "limits", "batas"}


def people(asked: Asked) -> Iterator[Result]:
    """The people in the text: first those with exactly this name, then people who work here, then people who left.

    Days may follow a name, as in "kasir sari kemarin": then the person's page opens with these days. "Limit sari" opens
    it at the limits.
    """
    if not asked.may_name_in_part:
        return
    name, days = _name_and_days(asked.text)
    title, _space, rest = name.partition(" ")
    if days and rest and title.lower() in CASHIER and not narrowed(User.objects.matching(name)).exists():
        name = rest  # somebody may be called "Kasir Dua"
    asks_limits = title.lower() in _LIMITS and bool(rest) and not days
    name = rest if asks_limits else name
    seen, now = narrowed(User.objects.matching(name)), clock.now()
    called = Case(When(first_name__iexact=name, then=0), When(username__iexact=name, then=0), default=1)
    rows = seen.order_by(called, "-is_active", "first_name", "username", "pk").for_table(now)
    for person in rows[: asked.most]:
        role = role_of(person)
        standing = standing_of(person, link_until=person.link_until, now=now)
        period = days if person.has_joined else None
        part = str(period.label) if period else _("Limits") if asks_limits else ""
        user_name = person.username if person.username != person.shown_name else ""
        yield Result(
            url=person.get_absolute_url() + (f"?days={period}" if period else "#limits" if asks_limits else ""),
            words=f"{person.shown_name} · {part}" if part else person.shown_name,
            more=" · ".join(filter(None, [user_name, str(role.label) if role else "", str(standing.label)])),
            icon="user",
            is_meant=bool(period) and _is_cashier_of_line(asked, person),
        )


def _is_cashier_of_line(asked: Asked, person: User) -> bool:
    """Whether the list of orders reads only this person and days in the text."""
    line = asked.line
    if not line or line.rest:
        return False
    filters = line.filtered.without()
    return filters.keys() == {"cashier", "days"} and filters["cashier"] == person.username


def _name_and_days(text: str) -> tuple[str, Period | None]:
    """The name without the period after it, and the period; the whole text and None without a period."""
    words = text.split()
    for count in range(1, len(words)):
        days = days_at([word.lower() for word in words[count:]], timezone.localdate(), is_for_sums=True)
        if days and "days" in days[0] and count + days[1] == len(words):
            return " ".join(words[:count]), Period(days[0]["days"])
    return text, None
