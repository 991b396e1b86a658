"""The due time of work, in minutes while a customer may be waiting; and the words of a row about it."""

import datetime as dt
import re

import pytest
from django.db import transaction
from django.utils import timezone

from approvals.services import ask
from batches.models import Batch
from batches.services.releasing import BATCH, content_of
from branches.models import FIRST
from core.times import short_time
from drawers.services import close_shift
from policies.models import Policies
from purchases.models import Incident
from purchases.services.resolving import requeue
from purchases.services.sending import claim
from purchases.states import ActionReason, Status
from testing.database import past_triggers
from testing.factories import make_order
from testing.orders import answer
from testing.people import browser_of, make_person
from tests.approvals.helpers import ask_purchase, cashier
from tests.batches.helpers import CASH, supervisor
from tests.core.helpers import words_at
from tests.drawers.helpers import begin, end, pieces_of, sell
from tests.reconciliation.helpers import make_difference
from work.services import Item
from work.tables import due_words, group_of

pytestmark = pytest.mark.django_db


def due_of(browser, kind: str) -> dt.datetime:
    """The due time of the row of this kind."""
    [task] = browser.get(f"/work/?kind={kind}&whose=shop").context["table"].rows
    due: dt.datetime = task.item.due
    return due


def test_an_approval_is_due_in_minutes_where_a_customer_may_wait_for_it(time_machine):
    sale = ask_purchase(cashier(own_approval_above=10_000), "081234567890")
    owner, due = browser_of("admin"), sale.asked_at + dt.timedelta(minutes=15)

    assert due_of(owner, "approval") == due
    # the row has one end and says that a customer waits
    for address in ("/work/", "/work/first/"):
        row = owner.get(address).content.decode().split(f'id="row-approval-{sale.pk}"')[1].split("</tr>")[0]
        assert re.findall(r'<time datetime="([^"]+)"', row) == [due.isoformat()], address
        assert short_time(sale.expires_at) not in row
        assert "status-bad" in row.split("c-what")[0]
    # its pages name the same hour
    assert short_time(due) in words_at(owner.get("/approvals/"), "data-answer-by")
    said = words_at(owner.get(sale.get_absolute_url()), 'id="answer-by"')
    assert short_time(due) in said
    assert short_time(sale.expires_at) in said, "until then it can be approved"

    # an answer that is late is not asked for by an hour that is over
    time_machine.move_to(sale.asked_at + dt.timedelta(minutes=16))
    budi = browser_of("admin", username="budi")
    for page, mark in (("/approvals/", "data-answer-by"), (sale.get_absolute_url(), 'id="answer-by"')):
        assert f"it was due by {short_time(due)}" in words_at(budi.get(page), mark), page
    assert 'id="answer-late"' in budi.get(sale.get_absolute_url()).content.decode()

    with past_triggers() as cursor:
        cursor.execute("UPDATE approvals_approval SET expires_at = asked_at + interval '5 minutes'")
    time_machine.move_to(sale.asked_at + dt.timedelta(minutes=1))
    assert due_of(owner, "approval") == sale.asked_at + dt.timedelta(minutes=5), "it expires before"


def test_what_is_overdue_says_how_late_in_whole_hours_or_days():
    for late, said in [
        (dt.timedelta(seconds=-20), "late"),  # still in the minute in which it is due
        (dt.timedelta(minutes=9, seconds=59), "late"),
        (dt.timedelta(minutes=10), "10 min late"),
        (dt.timedelta(minutes=59), "50 min late"),
        (dt.timedelta(minutes=60), "1 h late"),
        (dt.timedelta(hours=23, minutes=59), "23 h late"),
        (dt.timedelta(hours=24), "1 day late"),
        (dt.timedelta(hours=50), "2 days late"),
    ]:
        now = timezone.localtime().replace(hour=12, minute=0, second=30, microsecond=0)
        now -= dt.timedelta(seconds=20) if late < dt.timedelta() else dt.timedelta()

        assert due_words(Item("refund", 1, now - late, True, None, None), now) == said


def test_what_is_due_at_midnight_is_due_on_the_day_that_ends():
    noon = timezone.localtime().replace(month=5, day=10, hour=12, minute=0, second=0, microsecond=0)
    midnight = noon.replace(hour=0) + dt.timedelta(days=1)
    tonight, tomorrow, soon = (
        Item("day", 1, due, True, None, None)
        for due in (midnight, midnight + dt.timedelta(days=1), noon + dt.timedelta(hours=2))
    )

    assert [(group_of(item, noon), due_words(item, noon)) for item in (tonight, tomorrow, soon)] == [
        ("today", "due today"),
        ("later", "due 11 May"),
        ("today", "due 14:00"),
    ]


def test_what_is_due_soon_after_midnight_says_tomorrow_and_its_hour():
    late = timezone.localtime().replace(month=5, day=10, hour=23, minute=50, second=0, microsecond=0)
    soon, morning, later = (
        Item("approval", 1, late + ahead, True, None, None)
        for ahead in (dt.timedelta(minutes=15), dt.timedelta(hours=11), dt.timedelta(hours=13))
    )

    assert [(group_of(item, late), due_words(item, late)) for item in (soon, morning, later)] == [
        ("today", "due tomorrow 00:05"),
        ("today", "due tomorrow 10:50"),
        ("later", "due 11 May"),
    ]


def test_what_is_due_in_one_minute_is_one_group_twelve_hours_ahead():
    now = timezone.localtime().replace(month=5, day=10, hour=13, minute=0, second=30, microsecond=0)
    minute = now.replace(second=0) + dt.timedelta(hours=12)
    same = [Item("approval", 1, minute.replace(second=second), True, None, None) for second in (5, 50)]

    assert [group_of(item, now) for item in same] == ["today", "today"]


def test_an_approval_that_keeps_no_customer_is_due_when_it_expires_other_work_in_an_hour():
    asker, owner = supervisor(), browser_of("admin")
    batch = Batch.objects.create(branch_id=FIRST, sha256="0" * 64)
    asked_for = ask(BATCH, subject=str(batch.pk), content=content_of(batch, seller=asker, payment=CASH), actor=asker)
    difference = make_difference(-37_500)  # a loss that goes on grows

    assert due_of(owner, "approval") == asked_for.expires_at
    assert due_of(owner, "difference") == difference.found_at + dt.timedelta(hours=1)
    incident = Incident.objects.create(order=make_order(Status.SUCCESS), kind="contradiction", source="callback")
    assert due_of(owner, "incident") == incident.at + dt.timedelta(hours=1)
    assert f"row-incident-{incident.pk}" in owner.get("/work/first/").content.decode(), "the overview shows it itself"


def test_money_to_give_back_is_due_in_half_an_hour_if_it_was_sold_at_a_drawer():
    seller = make_person("cashier")
    shift = begin(seller)
    payment = end(sell(seller, 10_000), "failed").payment
    owner = browser_of("admin")

    at_the_counter = due_of(owner, "refund")
    close_shift(shift, pieces=pieces_of(210_000), actor=seller)

    assert at_the_counter == due_of(owner, "refund") == payment.ended_at + dt.timedelta(minutes=30)


def test_an_order_of_unknown_outcome_is_due_when_people_may_decide_it():
    Policies.objects.update_or_create(only=True, defaults={"order_verdict_after_minutes": 120})
    order = make_order(status=Status.UNKNOWN, sent_at=timezone.now() - dt.timedelta(minutes=10))

    assert due_of(browser_of("admin"), "order") == order.sent_at + dt.timedelta(minutes=120)


def test_an_order_and_work_name_the_same_hour_for_its_decision():
    sent, owner = timezone.now() - dt.timedelta(minutes=10), browser_of("admin")
    for status, reason in [("unknown", ""), ("needs_action", ActionReason.NEVER_ARRIVED)]:
        order = make_order(status, sent_at=sent, created_at=sent, action_reason=reason)

        said = words_at(owner.get(order.get_absolute_url()), 'class="explained"')

        tasks = owner.get("/work/?kind=order&whose=shop").context["table"].rows
        [due] = [task.item.due for task in tasks if task.item.key == order.pk]
        assert short_time(due) in said, status


@pytest.mark.parametrize("reason", [ActionReason.UNAVAILABLE, ActionReason.NEVER_ARRIVED])
def test_sent_again_in_vain_it_keeps_its_hour_and_says_so(reason):
    held = {"status": Status.NEEDS_ACTION, "action_reason": reason}
    sold = timezone.now() - dt.timedelta(minutes=40)
    order = make_order(created_at=sold, sent_at=sold, sent_no=None, **held)
    order.events.create(at=sold, from_status="queued", to_status="sending", source="submit")
    owner = browser_of("admin")
    before = due_of(owner, "order"), words_at(owner.get(order.get_absolute_url()), 'class="order-status"')

    with transaction.atomic():
        requeue(order, max_price=order.max_price, actor=make_person("supervisor"))
    claim(order.pk)
    answer(order, **held)

    page, again = owner.get(order.get_absolute_url()), short_time(order.events.get(to_status="queued").at)
    assert due_of(owner, "order") == before[0] == sold + dt.timedelta(minutes=30)
    assert again in words_at(page, "data-sent-again")
    assert again not in before[1]
    assert again in words_at(owner.get("/work/?kind=order"), 'class="sub why"')


@pytest.mark.parametrize("reason", [ActionReason.UNAVAILABLE, ActionReason.NEVER_ARRIVED])
def test_after_a_wait_for_a_top_up_its_time_begins_with_the_first_sending(reason):
    # given: it waited for a top-up for hours, and was then sent twice
    now = timezone.now()
    held = {"status": Status.NEEDS_ACTION, "action_reason": reason}
    order = make_order(waits_for_topup=True, created_at=now - dt.timedelta(hours=3), sent_at=now, **held)
    first, again = now - dt.timedelta(minutes=10), now
    for at in (first, again):
        order.events.create(at=at, from_status="queued", to_status="sending", source="submit")
    owner = browser_of("admin")

    page = words_at(owner.get(order.get_absolute_url()), 'class="explained"')

    due = first + dt.timedelta(minutes=30)
    assert due_of(owner, "order") == due
    assert reason != ActionReason.NEVER_ARRIVED or short_time(due) in page


def test_after_a_wait_for_a_top_up_the_first_sending_is_none_again():
    held = {"status": Status.NEEDS_ACTION, "action_reason": ActionReason.BALANCE_SHORT}
    order = make_order(waits_for_topup=True, sent_at=None, attempt=0, **held)
    owner = browser_of("admin")
    # while it still waits it keeps the time of its sale
    assert due_of(owner, "order") == order.created_at + dt.timedelta(minutes=30)

    def send():
        with transaction.atomic():
            requeue(order, max_price=order.max_price, actor=None)
        claim(order.pk)
        answer(order, **held)
        page = owner.get(order.get_absolute_url())
        return words_at(page, "data-sent-again"), words_at(owner.get("/work/?kind=order"), 'class="sub why"')

    on_page, in_work = send()
    then_on_page, then_in_work = send()

    assert (on_page, in_work) == ("", str(ActionReason.BALANCE_SHORT.label))
    again = short_time(order.events.filter(to_status="queued").last().at)
    assert again in then_on_page
    assert again in then_in_work
