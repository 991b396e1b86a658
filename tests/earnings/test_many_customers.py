"""A page names the first of many customers; the database adds up the others, to the same sums as one by one."""

import pytest

from customers.models import Customer, SavedNumber
from drawers.services import merge_customers
from earnings.periods import chosen_period
from earnings.presenting import Report, report_of
from earnings.services import Others, figures_by, totals_of
from earnings.services.figures import Most
from purchases.states import Status
from testing.factories import make_product
from testing.people import make_person
from tests.earnings.helpers import ago, sold, sum_past_days

pytestmark = pytest.mark.django_db

NUMBER = "0812111122{:02d}"


@pytest.fixture
def shop() -> dict[str, Customer]:
    """Customers whose sales of the last days and of the days before differ, so that each has a place of its own."""
    pulsa, customers = make_product(code="TSEL10"), {}

    def buys(name: str, *days: int, price: int = 0, status: Status = Status.SUCCESS) -> None:
        number = NUMBER.format(len(customers) if name not in customers else [*customers].index(name))
        if name not in customers:
            customers[name] = Customer.objects.create(name=name)
            SavedNumber.objects.create(customer=customers[name], destination=number, kind="phone")
        for day in days:
            sold(ago(day, 0), status, product=pulsa, destination=number, selling_price=price or None)

    for place in range(6):
        buys(f"Usual {place}", *range(1, 7), price=20_000 - 100 * place)  # these days
        buys(f"Usual {place}", 8, 9, price=11_000 + 10 * place)  # and those before
    buys("Today and before", 0, 2, price=15_000)
    buys("Today first", 0, price=17_000)
    buys("Only failed", 2, 3, status=Status.FAILED)
    buys("Failed once", 3, status=Status.FAILED)
    buys("Failed today", 0, 1, 4, status=Status.FAILED)
    buys("Only before", 9, 10, price=13_000)
    buys("Little before", 9, price=12_500)
    buys("Cancelled", 2, status=Status.CANCELLED)
    buys("Twin", 3, 4, 5, price=40_000)
    buys("Twin kept", 2, price=11_100)
    sold(ago(2), product=pulsa, destination="081333333333", selling_price=14_000)  # without a customer
    sum_past_days()
    merge_customers(
        customers["Twin kept"], customers["Twin"], name="Twin kept", note="", actor=make_person("supervisor")
    )
    return customers


def both(*, most: int, spare: int = 0, step: str = "", days: int = 7, until: int = 0) -> tuple[Report, Report]:
    """The report with all lines, and with the first ones."""
    first, last = ago(until + days - 1).date(), ago(until).date()
    chosen = chosen_period({"since": first.isoformat(), "until": last.isoformat()})
    return report_of(chosen, "customer", step=step), report_of(chosen, "customer", step=step, most=most, spare=spare)


def sold_in(report: Report) -> list[tuple[str, object, object]]:
    return [(line.words, line.figures, line.before) for line in report.lines if line.figures.sold]


def test_the_first_customers_and_the_sums_of_the_others_are_those_of_all(shop):
    cases = [(1, 0, ""), (3, 0, "day"), (3, 2, ""), (8, 1, "day"), (9, 1, ""), (50, 0, "day")]
    for most, spare, step in cases:
        assert_alike(most, spare, *both(most=most, spare=spare, step=step))


def assert_alike(most: int, spare: int, every: Report, first: Report) -> None:
    shown = len(first.lines)
    assert len(sold_in(every)) == 10  # six, two of today, the merged ones as one, and nobody
    assert shown == min(most if not most < 10 <= most + spare else 10, every.count)
    assert sold_in(first) == sold_in(every)[:shown]
    assert first.sold_count == 10
    assert (first.now, first.before, first.steps) == (every.now, every.before, every.steps)
    of_lines = [line.figures for line in first.lines if not line.figures.has_only_failed]
    assert totals_of([*of_lines, first.others, first.only_failed]) == every.now
    assert first.only_failed == every.only_failed
    assert len(first.failed_lines) + first.failed_more == 3
    assert [line.words for line in first.failed_lines] == [line.words for line in every.failed_lines]


def test_who_bought_only_before_is_shown_once_there_is_room_and_who_sold_little_has_no_own_figures(shop):
    every, first = both(most=50)
    assert [line.words for line in first.idle_lines] == [line.words for line in every.idle_lines]
    assert first.count == every.count == 16

    every, first = both(most=3, until=-1, days=1)  # tomorrow, against today: nobody has bought yet
    assert first.count == every.count

    chosen = chosen_period({"since": ago(6).date().isoformat(), "until": ago(0).date().isoformat()})
    figures = figures_by("buyer", chosen.period, most=Most(2, frozenset({shop["Usual 5"].pk})))
    named = {"Usual 0", "Usual 1", "Usual 5", "Twin", "Twin kept", "Today and before", "Today first", "Failed today"}
    named |= {"Only failed", "Failed once", "Cancelled"}  # the first of each kind
    assert {key for key in figures if not isinstance(key, Others)} == {None, *(shop[name].pk for name in named)}
    others = {(key.number, key.has_sold, key.has_only_failed): own.sold for key, own in figures.items()
              if isinstance(key, Others)}  # fmt: skip
    assert others == {(3, True, False): 18}
