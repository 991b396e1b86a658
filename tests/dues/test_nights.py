"""At night the due bills are checked, never paid; a missed night is caught up; a paid bill ends."""

import datetime as dt
import itertools

import pytest
import time_machine
from django.utils import timezone

from bills.models import BillCheck
from bills.services import inquiring
from catalogue.models import Product
from customers.models import SavedNumber
from drawers.services import merge_customers
from dues.models import DueBill, DueState, FollowedNumber
from dues.services import follow, keep, stop, sweep
from gateway.models import Exchange
from purchases.models import Order
from purchases.states import Status
from testing.database import undone
from testing.factories import make_biller, make_check, make_payment
from testing.people import make_person
from tests.conftest import Upstream
from tests.customers.helpers import make_customer
from tests.dues.helpers import followed, night, states

pytestmark = pytest.mark.django_db


def at(moment: str):
    """Stop the shop's clock at this time."""
    return time_machine.travel(f"{moment}+07:00", tick=False)


def answer(number, answer: str = "bill", **facts) -> BillCheck:
    """Let the biller answer the check of the open row."""
    row = DueBill.objects.open().get(number=number)
    BillCheck.objects.filter(pk=row.bill_check_id).update(next_poll_at=None)
    check = make_check(answer, product=number.product, destination=number.destination, **facts)
    DueBill.objects.filter(pk=row.pk).update(bill_check=check)
    return check


NIGHTS = {
    "2026-11-12T00:59:00": [],  # the night has not begun
    "2026-11-12T01:00:00": ["2026-11-12"],
    "2026-11-20T10:00:00": ["2026-11-12"],  # the night was missed
    "2026-12-05T10:00:00": ["2026-11-12"],  # the whole rest of the month, too
}


def test_a_number_is_checked_in_the_night_of_its_day_or_after_a_missed_one():
    number = followed("1234567890", day=12, product=make_biller(), first_month="2026-11-01")

    for moment, due in NIGHTS.items():
        with undone():
            with at(moment):
                sweep()
                sweep()

            assert states(number) == [(day, DueState.ASKING) for day in due], moment
            assert BillCheck.objects.filter(saved_number=number, checked_by=None).count() == len(due), moment


def test_day_31_is_the_last_day_of_a_shorter_month():
    number = followed("1234567890", day=31, product=make_biller())

    for today, due_on in (("2026-02-28", "2026-02-28"), ("2026-04-30", "2026-04-30"), ("2026-05-30", "2026-04-30")):
        with undone():
            with at(f"{today}T02:00:00"):
                sweep()

            assert states(number) == [(due_on, DueState.ASKING)], today


def test_a_new_day_begins_with_its_next_date():
    number, actor = make_customer("Bu Sari", ("1234567890", make_biller())).numbers.get(), make_person("cashier")

    for day, first in ((11, "2026-12-01"), (12, "2026-11-01"), (31, "2026-11-01")):
        with undone():
            with at("2026-11-12T10:00:00"):
                follow(number, day=day, fine_day=20, actor=actor)

            assert f"{FollowedNumber.objects.get().first_month}" == first, day


def test_the_biller_is_asked_once_and_never_paid(upstream: Upstream):
    biller = Product.objects.filter(type="postpaid", category__name__startswith="PLN").earliest("pk")
    with at(f"{timezone.localdate()}T02:00:00"):
        numbers = {
            n: followed(f"5312900000{n}", day=timezone.localdate().day, product=biller) for n in ("01", "35", "23")
        }
        night()
        night()

    found = {n: [state for _day, state in states(number)] for n, number in numbers.items()}
    assert found == {"01": [DueState.UNPAID], "35": [DueState.NOTHING], "23": [DueState.GONE]}
    asked = [row["endpoint"] for row in upstream.control("requests")["requests"]]
    assert asked.count("/v1/bill/inquiry") == 3
    assert not Order.objects.exists()
    assert not {"/v1/bill/pay", "/v1/transaction/create"} & set(asked)


def test_many_numbers_are_asked_in_turns_with_room_between():
    biller = make_biller()
    for n in range(50):
        followed(f"12345678{n:02d}", day=12, product=biller)

    with at("2026-11-12T02:00:00"):
        sweep()
        moments = sorted(BillCheck.objects.values_list("next_poll_at", flat=True))
        assert len(moments) == 20
        assert {round((b - a).total_seconds()) for a, b in itertools.pairwise(moments)} == {3}
        sweep()
        sweep()

    assert BillCheck.objects.count() == DueBill.objects.count() == 50


def test_a_worker_killed_before_the_answer_asks_the_same_again():
    number = followed("1234567890", day=12, product=make_biller())
    with at("2026-11-12T02:00:00"):
        sweep()
        inquiring.take_due(4)  # leased, and the worker dies
        sweep()

    assert BillCheck.objects.filter(saved_number=number).count() == 1


def test_without_an_answer_it_is_asked_again_the_next_night():
    number = followed("1234567890", day=12, product=make_biller())
    with at("2026-11-12T02:00:00"):
        sweep()
    BillCheck.objects.update(next_poll_at=None)  # the biller gave none within an hour

    with at("2026-11-12T12:00:00"):
        sweep()
        assert BillCheck.objects.count() == 1
    with at("2026-11-13T01:00:00"):
        sweep()

    assert BillCheck.objects.count() == 2
    assert states(number) == [("2026-11-12", DueState.ASKING)]


def test_a_refusal_of_our_ref_id_is_no_number_that_is_gone():
    number = followed("1234567890", day=12, product=make_biller())
    with at("2026-11-12T02:00:00"):
        sweep()
    for code in ("DUPLICATE_REF_ID", "INQUIRY_EXPIRED", "BILL_NOT_FOUND"):
        with undone():
            answer(number, "refusal", error_code=code)

            assert states(number) == [("2026-11-12", DueState.ASKING)], code
            with at("2026-11-13T01:00:00"):
                sweep()
            assert BillCheck.objects.filter(destination=number.destination, answer="none").count() == 2, code
            assert DueBill.objects.get().bill_check.answer == "none", code


def test_a_closed_biller_is_asked_later_and_holds_up_nobody():
    closed, biller = make_biller(availability="inactive"), make_biller()
    number = followed("1234567890", day=12, product=closed)
    with at("2026-11-12T02:00:00"):
        sweep()
        assert not BillCheck.objects.exists()
        Product.objects.filter(pk=closed.pk).update(availability="active")
        followed("1234567891", day=12, product=biller)
        sweep()
        assert BillCheck.objects.count() == 1
    with at("2026-11-12T03:00:00"):
        sweep()

    assert BillCheck.objects.filter(saved_number=number).count() == 1


def test_a_bill_that_is_paid_with_another_check_ends():
    number = followed("1234567890", day=12, product=make_biller())
    with at("2026-11-12T02:00:00"):
        sweep()
    with at("2026-11-12T02:01:00"):
        answer(number)
        sweep()
        assert [state for _day, state in states(number)] == [DueState.UNPAID]

    with at("2026-11-12T02:02:00"):
        at_counter = make_check(product=number.product, destination=number.destination)
        make_payment(at_counter, Status.SUCCESS)

        assert [state for _day, state in states(number)] == [DueState.PAID]  # also before the sweep
        sweep()
    assert not DueBill.objects.open().exists()


def test_the_next_month_waits_for_a_payment_that_has_not_ended():
    number = followed("1234567890", day=12, product=make_biller())
    with at("2026-10-12T02:00:00"):
        sweep()
        check = answer(number)
        order = make_payment(check, Status.UNKNOWN)
    with at("2026-11-12T02:00:00"):
        sweep()
        assert states(number) == [("2026-10-12", DueState.PAYING)]

        ended = {"final_at": timezone.now(), "ended_no": 3, "next_poll_at": None}
        Order.objects.filter(pk=order.pk).update(status=Status.SUCCESS, **ended)
    with at("2026-11-12T02:01:00"):
        sweep()

    assert states(number) == [("2026-10-12", DueState.PAID), ("2026-11-12", DueState.ASKING)]


def test_a_new_answer_at_the_counter_counts():
    number = followed("1234567890", day=12, product=make_biller())
    with at("2026-11-12T02:00:00"):
        sweep()
    with at("2026-11-12T02:01:00"):
        answer(number)
    with at("2026-11-12T02:02:00"):
        make_check("refusal", product=number.product, destination=number.destination, error_code="CUT_OFF")
        sweep()
        assert DueBill.objects.with_state().get().state == DueState.UNPAID

    with at("2026-11-12T02:03:00"):
        make_check("refusal", product=number.product, destination=number.destination, error_code="BILL_ALREADY_PAID")
        sweep()
        sweep()

    assert [state for _day, state in states(number)] == [DueState.NOTHING]


def test_a_number_that_stays_unpaid_asks_once():
    number = followed("1234567890", day=12, product=make_biller())
    found = []
    for month in ("09", "10", "11"):
        with at(f"2026-{month}-12T02:00:00"):
            sweep()
            answer(number, period=f"{month}", details=[])
            found.append(DueBill.objects.with_state().open().get().state)
            if month == "10":
                keep(number, actor=make_person("cashier"))
                found.append(DueBill.objects.with_state().open().get().state)

    assert found == [DueState.UNPAID, DueState.STAYS, DueState.UNPAID, DueState.UNPAID]

    make_payment(make_check(product=number.product, destination=number.destination, period="12"), Status.SUCCESS)
    sweep()
    assert not FollowedNumber.objects.get().is_kept


def test_a_number_that_is_gone_asks_once_until_it_is_paid_again():
    number = followed("1234567890", day=12, product=make_biller())
    for month in ("10", "11"):
        with at(f"2026-{month}-12T02:00:00"):
            sweep()
            answer(number, "refusal", error_code="INVALID_DESTINATION")
            sweep()
            assert DueBill.objects.open().count() == (month == "10")
            keep(number, actor=make_person("cashier", username=f"sari{month}"))

    assert [state for _day, state in states(number)] == [DueState.GONE, DueState.GONE]


def test_a_corrected_number_is_asked_about_at_once():
    number = followed("1234567890", day=12, product=make_biller())
    with at("2026-11-12T02:00:00"):
        sweep()
        answer(number, "refusal", error_code="INVALID_DESTINATION")
    number.destination = "1234567899"
    number.save()

    with at("2026-11-12T02:05:00"):
        sweep()

    assert BillCheck.objects.latest("pk").destination == "1234567899"
    assert states(number) == [("2026-11-12", DueState.ASKING)]


def test_a_number_that_is_at_no_biller_any_more_holds_up_nobody(cashier):
    biller = make_biller()
    gone = followed("1234567890", day=12, product=biller, first_month="2026-11-01")
    other = followed("1234567891", day=13, product=biller, first_month="2026-11-01")
    with at("2026-11-12T02:00:00"):
        sweep()
        answer(gone, "refusal", error_code="INVALID_DESTINATION")
    cashier.post(f"/customers/numbers/{gone.pk}/edit/", {"what": "kind:phone", "destination": "081234567890"})

    for moment in ("2026-11-12T02:05:00", "2026-11-13T02:00:00"):
        with at(moment):
            sweep()

    assert states(other) == [("2026-11-13", DueState.ASKING)]
    assert BillCheck.objects.filter(saved_number=other).count() == 1
    assert states(gone) == [("2026-11-12", DueState.STOPPED)]


def test_a_number_that_is_no_longer_followed_is_not_asked():
    number = followed("1234567890", day=12, product=make_biller())
    with at("2026-10-12T02:00:00"):
        sweep()
        stop(number, actor=make_person("cashier"))
    with at("2026-11-12T02:00:00"):
        sweep()

    assert states(number) == [("2026-10-12", DueState.STOPPED)]
    assert not Exchange.objects.exists()


def test_the_day_of_the_fine_is_the_next_one():
    biller = make_biller()
    numbers = [
        followed(f"123456789{n}", day=20, product=biller, fine_day=fine) for n, fine in enumerate((21, 10, None))
    ]
    with at("2026-11-20T02:00:00"):
        sweep()

    days = [DueBill.objects.get(number=number).fine_on for number in numbers]
    assert days == [dt.date(2026, 11, 21), dt.date(2026, 12, 10), None]


def test_a_number_that_two_merged_customers_have_is_followed_on():
    plan = make_biller()
    gone = followed("551234567890", day=10, product=plan)
    with at("2026-11-09T23:00:00"):
        kept = make_customer("Bu Sari", (gone.destination, plan)).numbers.get()
    with at("2026-11-10T02:00:00"):
        night()
        check = DueBill.objects.open().get(number=gone).bill_check

        merge_customers(kept.customer, gone.customer, name="Bu Sari", note="", actor=make_person("supervisor"))

    number = SavedNumber.objects.get()
    assert FollowedNumber.objects.get().number == number
    assert DueBill.objects.get(closed_at=None).number == number
    assert BillCheck.objects.get(pk=check.pk).saved_number == number


@pytest.mark.parametrize("keeps_stopped", [True, False])
def test_given_two_rows_of_a_number_merged_then_its_open_bill_stays(keeps_stopped):
    plan = make_biller()
    gone = followed("551234567890", day=10, product=plan)
    kept = make_customer("Bu Sari", (gone.destination, plan)).numbers.get()
    FollowedNumber.objects.create(number=kept, day=10 if keeps_stopped else 20, first_month=dt.date(2026, 11, 1))
    with at("2026-11-10T02:00:00"):
        night()
        check = answer(gone)
        if keeps_stopped:
            stop(kept, actor=make_person("cashier"))

        merge_customers(kept.customer, gone.customer, name="Bu Sari", note="", actor=make_person("supervisor"))

        assert states(kept) == [("2026-11-10", DueState.UNPAID)]
        assert DueBill.objects.get().bill_check == check
        assert FollowedNumber.objects.get().number == kept
    with at("2026-11-20T02:00:00"):
        sweep()
        assert DueBill.objects.count() == 1


def test_given_two_open_bills_merged_then_the_one_that_stays_is_kept():
    plan = make_biller()
    gone = followed("551234567890", day=10, product=plan)
    kept = make_customer("Bu Sari", (gone.destination, plan)).numbers.get()
    FollowedNumber.objects.create(number=kept, day=10, first_month=dt.date(2026, 1, 1))
    with at("2026-11-10T02:00:00"):
        night()
        own = DueBill.objects.get(number=kept)

        merge_customers(kept.customer, gone.customer, name="Bu Sari", note="", actor=make_person("supervisor"))

    assert DueBill.objects.get() == own
