"""The sums of a day equal those of its orders and entries, to the rupiah; a changed sum is found."""

import datetime as dt
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.utils import timezone

from drawers.services import PaymentFacts, change_payment, close_shift
from earnings.models import By, DaySum, SummedDay
from earnings.presenting import Change, tiles_of
from earnings.services import Figures, Period, figures_by, keeping, prove_days, sales_by_hour, sum_days, totals_of
from earnings.services.keeping import sum_day
from purchases.models import LostOrder, Order
from purchases.states import Status
from staff.models import User
from testing.database import past_triggers
from testing.factories import make_product
from testing.people import make_person
from tests.alerts.helpers import give_heartbeats, open_alerts
from tests.drawers.helpers import begin, end, pieces_of, sell
from tests.earnings.helpers import ONE_DAY, TODAY, ago, sold
from tests.ledger.helpers import open_books, spend

pytestmark = pytest.mark.django_db(transaction=True)


def whole(days: int) -> Figures:
    day = TODAY() - days * ONE_DAY
    return totals_of(figures_by("product", Period.of_days(day, day)).values())


@pytest.fixture(autouse=True)
def _over_at_midnight(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(keeping, "LONGEST_MOVE", dt.timedelta(0))


@pytest.fixture
def day_before() -> dt.date:
    """Yesterday, with two orders that arrived, one that failed, one reversed and one cancelled."""
    product = make_product()
    for status in (Status.SUCCESS, Status.SUCCESS, Status.FAILED, Status.REVERSED, Status.CANCELLED):
        sold(ago(1), status, product=product)
    return TODAY() - ONE_DAY


YESTERDAY = Figures(placed=5, sold=2, failed=1, reversed=1, sales=24_000, cost=21_000, seconds=16)


def test_a_summed_day_says_what_its_orders_said(day_before: dt.date):
    before = whole(1)

    assert sum_days() == 1

    assert before == whole(1) == YESTERDAY
    assert (YESTERDAY.profit, YESTERDAY.cancelled, YESTERDAY.share) == (3_000, 1, 0.5)
    assert sum_days() == 0


def test_today_and_a_day_with_an_open_order_are_not_summed():
    sold(ago(0, 0))
    sold(ago(2), Status.PENDING, price=None)

    assert sum_days() == 1  # yesterday, on which nobody sold

    assert list(SummedDay.objects.values_list("day", flat=True)) == [TODAY() - ONE_DAY]
    assert (whole(2).placed, whole(0).sold) == (1, 1)
    assert (whole(2).open, whole(2).cancelled) == (1, 0)


def test_an_order_that_ends_late_counts_on_its_own_day():
    late = sold(ago(3), Status.PENDING, price=None)
    sum_days()
    with past_triggers() as cursor:
        cursor.execute(
            "UPDATE purchases_order SET status = 'success', price = 10500, final_at = now(), ended_no = 9,"
            " next_poll_at = NULL WHERE id = %s",
            [late.pk],
        )

    assert sum_days() == 1

    assert (whole(3).sold, whole(3).sales) == (1, 12_000)
    assert whole(1) == Figures()


def test_a_day_whose_payments_an_open_shift_may_change_is_not_summed():
    shift = begin(cash=100_000)
    order = end(sell(shift.cashier, 10_000), "success")
    with past_triggers() as cursor:
        cursor.execute("UPDATE purchases_order SET price = 10000, created_at = %s", [ago(1)])
        cursor.execute("UPDATE drawers_payment SET at = %s", [ago(1)])
    day = Period.of_days(TODAY() - ONE_DAY, TODAY() - ONE_DAY)

    assert sum_days() == 0
    change_payment(order.payment, method="qris", actor=shift.cashier)
    assert list(figures_by("method", day)) == ["qris"]
    close_shift(shift, pieces=pieces_of(100_000), actor=shift.cashier)

    assert sum_days() == 1
    assert DaySum.objects.get(by=By.METHOD).method == "qris"


def test_a_day_whose_payment_waits_for_the_next_shift_is_not_summed():
    shift = begin(cash=100_000)
    close_shift(shift, pieces=pieces_of(100_000), actor=shift.cashier)
    end(sell(shift.cashier, 10_000, payment=PaymentFacts(agreed_in=shift.pk)), "success")
    with past_triggers() as cursor:
        cursor.execute("UPDATE purchases_order SET created_at = %s", [ago(1)])
        cursor.execute("UPDATE drawers_payment SET at = %s", [ago(1)])

    assert sum_days() == 0

    shift.cashier.is_active = False  # no shift of this person takes it
    shift.cashier.save()
    assert sum_days() == 1


def test_a_sale_that_a_person_takes_into_a_shift_after_coming_back_changes_its_day_at_once_and_its_sums_after():
    sold_in = begin(cash=100_000)
    close_shift(sold_in, pieces=pieces_of(100_000), actor=sold_in.cashier)
    order = end(sell(sold_in.cashier, 10_000, payment=PaymentFacts(agreed_in=sold_in.pk)), "success")
    with past_triggers() as cursor:
        cursor.execute("UPDATE purchases_order SET price = 10000, created_at = %s", [ago(1)])
        cursor.execute("UPDATE drawers_payment SET at = %s", [ago(1)])
    User.objects.filter(pk=sold_in.cashier_id).update(is_active=False)
    sum_days()
    SummedDay.objects.update(summed_at=timezone.now() - dt.timedelta(hours=1))
    User.objects.filter(pk=sold_in.cashier_id).update(is_active=True)

    shift = begin(sold_in.cashier, cash=100_000, drawer=sold_in.drawer)
    order.payment.refresh_from_db()
    change_payment(order.payment, method="qris", actor=shift.cashier)
    close_shift(shift, pieces=pieces_of(100_000), actor=shift.cashier)

    yesterday = Period.of_days(TODAY() - ONE_DAY, TODAY() - ONE_DAY)
    assert list(figures_by("method", yesterday)) == ["qris"]
    assert prove_days() == []  # the day waits to be summed again, and is not wrong

    assert sum_days() == 1
    assert DaySum.objects.get(by=By.METHOD).method == "qris"


def test_a_day_of_which_a_lost_order_is_to_be_taken_in_is_not_summed():
    line = {"created_at": ago(1).isoformat()}
    LostOrder.objects.create(ref_id="LOST-1", line=line, sent_no=1, found_at=timezone.now())
    sold(ago(2))
    sold(ago(1))

    assert sum_days() == 1

    assert list(SummedDay.objects.values_list("day", flat=True)) == [TODAY() - 2 * ONE_DAY]


def test_a_reversal_changes_its_day_at_once_and_its_sums_after(day_before: dt.date):
    sum_days()
    SummedDay.objects.update(summed_at=timezone.now() - dt.timedelta(hours=1))
    taken_back = Order.objects.filter(status=Status.SUCCESS).first()
    assert taken_back is not None
    with past_triggers() as cursor:
        cursor.execute(
            "UPDATE purchases_order SET status = 'reversed', final_at = now() WHERE id = %s", [taken_back.pk]
        )

    assert (whole(1).sold, whole(1).reversed, whole(1).sales) == (1, 2, 12_000)
    assert prove_days() == []  # the day waits to be summed again, and is not wrong

    assert sum_days() == 1
    assert {row.by: row.sales for row in DaySum.objects.filter(sold__gt=0)} == dict.fromkeys(By.values, 12_000)
    assert whole(1).sales == 12_000


def test_figures_of_a_part_of_a_day_are_of_its_orders():
    sold(ago(1, 9))
    sold(ago(1, 15), selling_price=20_000)
    sum_days()

    morning = sales_by_hour(Period(ago(1, 0), ago(1, 12)))

    assert {hour: figures.sales for hour, figures in morning.items()} == {9: 12_000}


def test_most_of_a_summed_day_is_its_sums_without_its_rest():
    cashier, product = make_person("cashier"), make_product(brand="xl")
    for hour in (7, 10, 12):
        sold(ago(1, hour), placed_by=cashier)
        sold(ago(1, hour), Status.FAILED, product=product)
    sold(ago(1, 19), product=product, selling_price=20_000)
    periods = {until: Period(ago(1, 0), ago(1, until)) for until in (8, 13, 20)}
    keys = ("brand", "product", "person", "method", "branch", "day")
    of_orders = {until: {key: figures_by(key, period) for key in keys} for until, period in periods.items()}
    sum_days()

    for until, period in periods.items():
        assert {key: figures_by(key, period) for key in keys} == of_orders[until], until

    DaySum.objects.update(placed=F("placed") + 1)
    for until, period in periods.items():
        by_sums = figures_by("day", period) != {period.last: of_orders[until]["day"][period.last]}
        assert by_sums is (until > 8), until


def test_figures_by_each_key_add_up_to_the_same():
    cashier, product = make_person("cashier"), make_product(brand="xl")
    for days in (3, 2, 1, 0):
        sold(ago(days, 0), placed_by=cashier, product=product)
        sold(ago(days, 0))
    sum_days()
    period = Period(ago(3, 0), timezone.now() + ONE_DAY)

    all_keys = {key: figures_by(key, period) for key in ("brand", "product", "person", "method", "day")}

    assert {key: totals_of(rows.values()).sales for key, rows in all_keys.items()} == dict.fromkeys(all_keys, 96_000)
    assert all_keys["person"][cashier.pk].sales == all_keys["product"][product.pk].sales == 48_000


def test_a_day_of_the_real_books_is_proved_against_its_entries():
    open_books(5_000_000)
    order = spend(10_500)
    with past_triggers() as cursor:
        cursor.execute("UPDATE purchases_order SET created_at = %s WHERE id = %s", [ago(1), order.pk])
    sum_days()
    assert prove_days() == []

    with past_triggers() as cursor:
        cursor.execute(
            "UPDATE ledger_entry SET amount = amount + 500, balance_change = balance_change - 500 WHERE kind = 'debit'"
        )

    assert prove_days() == [TODAY() - ONE_DAY]
    assert SummedDay.objects.get(day=TODAY() - ONE_DAY).off_by == 500


def test_a_changed_sum_is_an_alert_and_the_pages_read_the_orders(day_before: dt.date, settings: Any):
    settings.POLICIES = {"alert_low_balance": 0}
    give_heartbeats()
    sum_days()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE earnings_daysum SET sales = sales + 700 WHERE by = 'product'")
    assert whole(1).sales == 24_700

    assert prove_days() == [day_before]

    assert SummedDay.objects.get(day=day_before).off_by == 700
    assert open_alerts() == [("day_sums_off", "")]
    assert whole(1) == YESTERDAY
    assert sum_days() == 0  # people look at it first

    with pytest.raises(CommandError, match="not over"):
        call_command("sum_days", again=TODAY().isoformat())
    call_command("sum_days", again=day_before.isoformat())
    assert open_alerts() == []
    assert set(DaySum.objects.values_list("sales", flat=True)) == {24_000}


def test_a_lost_sum_and_an_invented_one_are_found(day_before: dt.date):
    sum_days()
    for lost in By.values:
        DaySum.objects.filter(by=lost).delete()

        assert prove_days() == [day_before], lost
        sum_day(day_before)
    invented = DaySum.objects.get(by=By.METHOD)
    invented.pk, invented.method = None, "qris"
    invented.save()
    assert prove_days() == [day_before]


def test_the_database_refuses_sums_that_no_orders_have(day_before: dt.date):
    sum_days()

    for changed in ({"sold": 6}, {"sales": -1}, {"sold": 0}, {"by": "product"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            DaySum.objects.update(**changed)


def test_two_shares_differ_by_points_and_not_by_percent():
    for by_share, words in ((True, "8.4%"), (False, "6.7 points")):
        change = Change.between(0.867, 0.8, by_share=by_share)
        assert change
        assert change.words == words


def test_only_orders_that_all_went_through_are_a_hundred_percent():
    for went, failed, words in ((9_999, 1, "99.9%"), (999, 1, "99.9%"), (5, 0, "100%"), (0, 3, "0%"), (0, 0, "–")):
        now = Figures(placed=went + failed, sold=went, failed=failed)
        shown = [tile.shown for tile in tiles_of(now, Figures(), with_cost=False) if tile.name == "share"]
        assert shown == [words], (went, failed)
