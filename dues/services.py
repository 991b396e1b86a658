"""Follows numbers at billers: checks their bills each month at night, and ends paid ones. Nothing here ever pays."""

import datetime as dt

import structlog
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from audit.services import record
from bills.models import BillCheck
from bills.services import start_check
from bills.states import AnswerKind
from catalogue.destinations import InvalidDestination
from catalogue.models import ProductType
from core import clock
from core.errors import OrderRefused
from customers.models import SavedNumber
from dues.events import NUMBER_FOLLOWED, NUMBER_KEPT, NUMBER_STOPPED
from dues.models import NOT_NOW, OWES, DueBill, DueState, FollowedNumber, day_in
from staff.models import User

log = structlog.get_logger()

# A night begins at one: most billers are closed around midnight.
_NIGHT_BEGINS = dt.timedelta(hours=1)
# A sweep inquires this many bills, one every few seconds, so that a person's inquiry never waits for all of them.
_AT_ONCE, _SECONDS_BETWEEN = 20, 3.0
_AT_A_BILLER = Q(number__product__type=ProductType.POSTPAID)
_CLOSED_FOR, _NO_ANSWER_FOR = dt.timedelta(hours=1), dt.timedelta(hours=20)


def follow(number: SavedNumber, *, day: int, fine_day: int | None, actor: User) -> FollowedNumber:
    """Check the bill of this number each month, from the next such day on. Raises `SavedNumber.DoesNotExist`."""
    today = timezone.localdate()
    month = today.replace(day=1)
    first = month if day_in(month, day) >= today else _next(month)
    with transaction.atomic():
        followed = FollowedNumber.objects.select_for_update().filter(number=number).first()
        is_new = False
        if followed is None:
            # A colleague may have deleted the number meanwhile, or merged its customer with one who has it, too. A
            # followed number needs no such lock: the row goes with it, or moves. With both, a merge could deadlock.
            SavedNumber.objects.select_for_update(no_key=True).get(pk=number.pk)
            followed, is_new = FollowedNumber.objects.select_for_update().get_or_create(
                number=number, defaults={"day": day, "fine_day": fine_day, "first_month": first}
            )
        if not is_new:
            followed.first_month = followed.first_month if followed.day == day else first
            followed.day, followed.fine_day = day, fine_day
            followed.save()
        record(NUMBER_FOLLOWED, actor=actor, subject=f"customer {number.customer_id}")
    return followed


def stop(number: SavedNumber, *, actor: User) -> None:
    """Stop checking the number's bill, and close the open one."""
    with transaction.atomic():
        FollowedNumber.objects.filter(number=number).delete()
        _close(DueBill.objects.open().filter(number=number), DueState.STOPPED)
        record(NUMBER_STOPPED, actor=actor, subject=f"customer {number.customer_id}")


def keep(number: SavedNumber, *, actor: User) -> None:
    """Go on with a number that stays unpaid or is gone; no person is asked again until one of its bills is paid."""
    with transaction.atomic():
        FollowedNumber.objects.filter(number=number).update(is_kept=True)
        gone = DueBill.objects.open().filter(number=number).standing_at(DueState.GONE)
        _close(gone, DueState.GONE)
        record(NUMBER_KEPT, actor=actor, subject=f"customer {number.customer_id}")


def sweep() -> None:
    """Take over the results of the open bills, and inquire those that are due; safe to run twice.

    After a missed night it catches up at the next run.
    """
    _end_what_is_settled()
    _take_over_newer_checks()
    now = timezone.now()
    _open_due(now)
    _ask(now)


def _end_what_is_settled() -> None:
    rows = DueBill.objects.open()
    for state in (DueState.PAID, DueState.NOTHING):
        with transaction.atomic():
            ended = list(rows.standing_at(state).values_list("pk", "number"))
            if state == DueState.PAID:
                numbers = [number for _pk, number in ended]
                FollowedNumber.objects.filter(number__in=numbers, is_kept=True).update(is_kept=False)
            _close(rows.filter(pk__in=[pk for pk, _number in ended]), state)
    _close(rows.filter(number__followed__is_kept=True).standing_at(DueState.GONE), DueState.GONE)
    # A person has changed what the number is for: no biller can be asked.
    nobodys = rows.filter(Q(number__product=None) | ~_AT_A_BILLER)
    _close(nobodys.standing_at(DueState.ASKING, *OWES, DueState.GONE), DueState.STOPPED)


def _take_over_newer_checks() -> None:
    """Take the newest check if a person has checked again; begin again if the number was corrected."""
    answered = BillCheck.objects.filter(
        product_code=OuterRef("number__product__code"),
        destination=OuterRef("number__destination"),
        created_at__gt=OuterRef("bill_check__created_at"),
    ).exclude(Q(answer=AnswerKind.NONE) | Q(answer=AnswerKind.REFUSAL, error_code__in=NOT_NOW))
    rows = DueBill.objects.open().filter(bill_check__isnull=False)
    newest = Subquery(answered.order_by("-created_at", "-pk").values("pk")[:1])
    for pk, check_id in rows.annotate(newest=newest).exclude(newest=None).values_list("pk", "newest"):
        DueBill.objects.open().filter(pk=pk).update(bill_check=check_id)
    is_same = Q(bill_check__destination=F("number__destination"), bill_check__product=F("number__product"))
    corrected = list(rows.exclude(is_same).values_list("pk", flat=True))
    DueBill.objects.open().filter(pk__in=corrected).update(bill_check=None, ask_at=timezone.now())


def _open_due(now: dt.datetime) -> None:
    """Make a row for each number whose day has come, also last month; it ends the row of the month before."""
    today = timezone.localdate(now - _NIGHT_BEGINS)
    month = today.replace(day=1)
    last_day = 31 if today == day_in(month, 31) else today.day
    for of_month, day_has_come in (month, Q(day__lte=last_day)), (_before(month), Q(day__gt=last_day)):
        of_number = DueBill.objects.filter(number=OuterRef("number"))
        known = of_number.filter(month__gte=of_month)
        # A bill with a running payment stays open: its outcome is known at the end of the payment.
        being_paid = of_number.open().standing_at(DueState.PAYING)
        due = FollowedNumber.objects.filter(
            day_has_come,
            _AT_A_BILLER,
            ~Exists(known),
            ~Exists(being_paid),
            first_month__lte=of_month,
        )
        with transaction.atomic():
            for followed in due.select_for_update(skip_locked=True, of=("self",)).order_by("pk")[:_AT_ONCE]:
                _open(followed, of_month, now)


def _open(followed: FollowedNumber, month: dt.date, now: dt.datetime) -> None:
    before = DueBill.objects.with_state().open().filter(number=followed.number_id).first()
    if before:
        _close(DueBill.objects.filter(pk=before.pk), DueState(before.state))
    due_on = day_in(month, followed.day)
    fine_on = None
    if followed.fine_day:
        same_month = day_in(month, followed.fine_day)
        fine_on = same_month if same_month >= due_on else day_in(_next(month), followed.fine_day)
    DueBill.objects.create(
        number_id=followed.number_id,
        month=month,
        due_on=due_on,
        fine_on=fine_on,
        ask_at=now,
        was_unpaid=before is not None and before.state in OWES,
    )


def _ask(now: dt.datetime) -> None:
    """Have the billers asked in the background's turns. The inquiry of a killed worker is repeated unchanged."""
    with transaction.atomic():
        rows = DueBill.objects.open().filter(_AT_A_BILLER, ask_at__lte=now).standing_at(DueState.ASKING)
        rows = rows.select_related("number__product__category", "number__product__brand")
        for place, row in enumerate(
            rows.select_for_update(skip_locked=True, of=("self",)).order_by("ask_at")[:_AT_ONCE]
        ):
            number = row.number
            try:
                row.bill_check = start_check(
                    product=number.product,  # type: ignore[arg-type] # a followed one has a biller
                    destination=number.destination,
                    checked_by=None,
                    saved_number=number,
                    due_at=clock.now() + dt.timedelta(seconds=place * _SECONDS_BETWEEN),
                )
            except (OrderRefused, InvalidDestination) as refusal:
                log.info("due_bill_not_asked", number=number.pk, reason=refusal.code)
            else:
                row.asked_at = row.asked_at or now
            row.ask_at = now + (_NO_ANSWER_FOR if row.asked_at else _CLOSED_FOR)
            row.save(update_fields=["bill_check", "ask_at", "asked_at"])


def _close(rows: QuerySet[DueBill], outcome: DueState) -> None:
    """End those of these rows that are still open."""
    rows.filter(closed_at=None).update(closed_at=timezone.now(), outcome=outcome)


def _next(month: dt.date) -> dt.date:
    return (month + dt.timedelta(days=31)).replace(day=1)


def _before(month: dt.date) -> dt.date:
    return (month - dt.timedelta(days=1)).replace(day=1)
