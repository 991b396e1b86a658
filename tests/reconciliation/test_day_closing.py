"""The closing of a day: one page shows the cash and the provider's balance, and whether both add up."""

import datetime as dt
import re
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from core.times import start_of_day
from drawers.services import close_shift
from ledger import services as ledger
from reconciliation import services as reconciliation
from reconciliation.models import Difference, ReconciliationRun
from testing.database import undone
from testing.people import browser_of, make_person
from tests.branches.helpers import make_branch
from tests.core.helpers import has_id, hidden
from tests.drawers.helpers import begin, end_of_day, pieces_of
from tests.ledger.helpers import closing_lines, open_books, spend
from tests.reconciliation.helpers import tell

pytestmark = pytest.mark.django_db(transaction=True)


def count_cash(*, missing: int = 0) -> None:
    """Close a shift with so much less than expected (rupiah)."""
    shift = begin(make_person("cashier"), cash=100_000)
    close_shift(shift, pieces=pieces_of(100_000 - missing), actor=shift.cashier, reason="Coins")


def day_page(browser: Any, day: dt.date, query: str = "") -> Any:
    return browser.get(f"/shifts/days/{day}/{query}")


def verdict(answer: Any) -> tuple[str, ...]:
    """The codes of the page's sentence about both, of the cash, and of the provider."""
    match = re.search(r'data-verdict="(\w+)" data-cash="(\w+)"\s+data-provider="(\w+)"', answer.content.decode())
    assert match
    return match.groups()


def standing(answer: Any) -> str:
    """The state of the provider's balance of the day, as the page names it."""
    return re.findall(r'data-standing="(\w+)"', answer.content.decode())[0]


def differences(answer: Any) -> list[int]:
    return [
        int(amount) for amount in re.findall(r'data-difference="\d+" data-amount="(-?\d+)"', answer.content.decode())
    ]


@pytest.fixture
def yesterday() -> Any:
    """Yesterday at noon, for tests to travel to."""
    return timezone.localtime().replace(hour=12, minute=0) - dt.timedelta(days=1)


def test_a_day_shows_the_providers_closing_below_the_cash(admin, yesterday):
    with time_machine.travel(yesterday):
        open_books(1_000_000)
        spend(10_500)
        tell(989_500)
    count_cash()
    tell(989_500)

    page = day_page(admin, end_of_day())

    assert closing_lines(page)["purchases"] == "−Rp10.500"
    assert (closing_lines(page)["closing"], closing_lines(page)["reported"]) == ("Rp989.500", "Rp989.500")
    assert verdict(page) == ("both", "right", "explained")
    assert f'href="/balance/closing/{yesterday:%Y-%m-%d}/"' in page.content.decode()
    closing = admin.get(f"/balance/closing/{yesterday:%Y-%m-%d}/")
    assert f'href="/shifts/days/{yesterday:%Y-%m-%d}/"' in closing.content.decode()
    assert closing_lines(closing) == closing_lines(page)


def test_an_open_difference_is_named_before_the_day_is_signed(admin, yesterday):
    """People without the balance see the cash alone."""
    with time_machine.travel(yesterday):
        open_books(1_000_000)
        tell(925_000)
    count_cash()
    day = end_of_day()
    sign = f"/shifts/days/{day}/sign/"

    for page in (day_page(admin, day), admin.get(sign)):
        text = page.content.decode()
        assert (verdict(page), differences(page)) == (("off", "right", "open"), [-75_000])
        assert text.index('id="day-verdict"') < max(text.find('id="to-sign"'), text.find('id="sign-day"'))
        assert has_id(page, "signed-is-cash")
        assert not has_id(page, "adds-up")
    cash_alone = day_page(browser_of("supervisor"), day)
    assert [has_id(cash_alone, name) for name in ("day-counted", "day-provider", "day-verdict")] == [True, False, False]
    assert differences(cash_alone) == []
    admin.confirm(sign, hidden(admin.get(sign)))

    signed = day_page(admin, day)
    assert has_id(signed, "signed")
    assert (verdict(signed), differences(signed)) == (("off", "right", "open"), [-75_000])


def test_cash_that_is_off_is_no_fault_of_the_provider(admin, yesterday):
    """A branch has its own cash and the one balance. A person bound to it sees no balance of the shop, in any role."""
    with time_machine.travel(yesterday):
        open_books(1_000_000)
    branch = make_branch().pk
    count_cash(missing=1_000)
    day = end_of_day()
    tell(1_000_000)
    bound = browser_of("auditor", username="bound", branch_id=branch, bound_since="2026-01-01T00:00Z")

    of_one, of_all, of_bound = day_page(admin, day, f"?branch={branch}"), day_page(admin, day), day_page(bound, day)

    assert verdict(of_all) == ("off", "off", "explained")
    assert has_id(of_all, "adds-up")
    assert not has_id(of_all, "signed-is-cash")
    assert verdict(of_one) == ("open", "none", "explained")
    assert has_id(of_one, "provider-of-all")
    assert not has_id(of_bound, "day-provider")
    assert not has_id(of_bound, "day-verdict")


def test_counts_that_make_each_other_good_do_not_add_up(admin, yesterday):
    with time_machine.travel(yesterday):
        open_books(1_000_000)
    first = begin(make_person("cashier"), cash=100_000)
    close_shift(first, pieces=pieces_of(99_000), actor=first.cashier, reason="?")
    second = begin(first.cashier, drawer=first.drawer, cash=100_000)  # 1.000 more than was left
    close_shift(second, pieces=pieces_of(100_000), actor=first.cashier)
    tell(1_000_000)

    page = day_page(admin, end_of_day())

    assert page.context["sum"]["difference"] == 0
    assert verdict(page) == ("off", "evened", "explained")


def test_a_running_day_says_how_far_it_adds_up(admin):
    open_books(1_000_000)
    today = timezone.localdate()

    before = day_page(admin, today)
    shift = begin(make_person("cashier"), cash=100_000)
    during = day_page(admin, today)
    close_shift(shift, pieces=pieces_of(100_000), actor=shift.cashier)
    after = day_page(admin, today)

    assert verdict(before) == ("open", "none", "explained")
    assert verdict(during) == ("open", "open", "explained")
    assert verdict(after) == ("both", "right", "explained")
    assert "so_far" in closing_lines(after)
    assert has_id(after, "day-running")


def test_a_day_that_is_not_compared_is_not_said_to_add_up(admin, yesterday):
    with time_machine.travel(yesterday):
        open_books(1_000_000)
    count_cash()
    today = timezone.localdate()

    assert verdict(day_page(admin, today)) == ("open", "right", "waiting")


def test_a_comparison_to_the_end_says_more_than_the_last_one_of_the_day(admin, yesterday):
    """Orders were in progress at the day's end; the next day's comparison has found nothing."""
    with time_machine.travel(yesterday):
        open_books(1_000_000)
        ReconciliationRun.objects.create(
            trigger="beat", state="provisional", reported=1, expected=1, difference=0, at=timezone.now()
        )
    count_cash()
    day = end_of_day()

    before = day_page(admin, day)
    tell(1_000_000)

    assert verdict(before) == ("open", "right", "under_way")
    assert verdict(day_page(admin, day)) == ("both", "right", "explained")


def test_books_with_a_flaw_or_a_balance_that_fits_no_outcome_never_add_up(admin):
    open_books(1_000_000)
    for difference in (-5_000, None):
        with undone():
            ReconciliationRun.objects.create(trigger="beat", state="provisional", reported=1, difference=difference)
            page = admin.get("/balance/closing/", follow=True)
            assert (standing(page), has_id(page, "adds-up")) == ("not_fitting", False), difference
    proof = reconciliation.last_proof()
    proof.flaw, proof.flaw_amount = "sums", 7
    proof.save()

    page = admin.get("/balance/closing/", follow=True)

    assert standing(page) == "wrong"
    assert not has_id(page, "adds-up")
    assert not has_id(page, "entries-add-up")


def test_a_difference_is_never_green_and_one_of_a_day_before_is_told_apart(admin, yesterday):
    with time_machine.travel(yesterday):
        open_books(1_000_000)
        tell(925_000)
        running = admin.get("/balance/closing/", follow=True)
    tell(925_000)

    today = admin.get("/balance/closing/", follow=True)
    of_the_day = admin.get(f"/balance/closing/{yesterday:%Y-%m-%d}/")

    assert [standing(page) for page in (running, today, of_the_day)] == ["open", "earlier", "open"]
    assert has_id(running, "entries-add-up")
    for page in (running, today, of_the_day):
        assert differences(page) == [-75_000]
        assert not has_id(page, "adds-up")
        assert 'class="adds-up"' not in page.content.decode()


def test_a_difference_that_was_decided_later_is_neither_open_nor_green(admin, yesterday):
    with time_machine.travel(yesterday):
        open_books(1_000_000)
        tell(1_500_000)
    day = yesterday.date()
    assert standing(admin.get(f"/balance/closing/{day}/")) == "topup"

    reconciliation.acknowledge_top_up(Difference.objects.get(), actor=make_person("admin", username="second"), note="")
    tell(1_500_000)

    page = admin.get(f"/balance/closing/{day}/")
    assert (standing(page), differences(page)) == ("decided", [])
    assert not has_id(page, "adds-up")
    assert standing(admin.get("/balance/closing/", follow=True)) == "explained"


def test_a_difference_that_stayed_open_over_midnight_was_open_at_the_days_end(admin):
    midnight = start_of_day(timezone.localdate() - dt.timedelta(days=1))
    with time_machine.travel(midnight - dt.timedelta(hours=2)) as moment:
        open_books(1_000_000)
        tell(1_500_000)
        moment.move_to(midnight + dt.timedelta(minutes=1))
        reconciliation.reconcile()  # as every half minute

    reconciliation.acknowledge_top_up(Difference.objects.get(), actor=make_person("admin", username="second"), note="")
    tell(1_500_000)

    ended, began = (midnight - dt.timedelta(days=1)).date(), midnight.date()
    assert [standing(admin.get(f"/balance/closing/{day}/")) for day in (ended, began)] == ["decided", "decided"]


def test_a_balanced_comparison_before_midnight_stays_that_of_its_day(admin):
    """The provider is away from midnight on."""
    midnight = start_of_day(timezone.localdate())
    with time_machine.travel(midnight - dt.timedelta(minutes=1)) as moment:
        open_books(1_000_000)
        tell(1_000_000)
        day = timezone.localdate()
        before = standing(admin.get(f"/balance/closing/{day}/"))
        moment.move_to(midnight + dt.timedelta(minutes=1))
        reconciliation.reconcile()

        assert (before, standing(admin.get(f"/balance/closing/{day}/"))) == ("explained", "explained")


def test_a_day_before_the_books_or_to_come_says_nothing_of_the_provider(admin):
    open_books(1_000_000)
    today = timezone.localdate()

    before, to_come = (day_page(admin, today + dt.timedelta(days=days)) for days in (-3, 1))

    assert has_id(before, "before-opening")
    assert closing_lines(before) == {}
    assert verdict(before) == ("open", "none", "before")
    assert to_come.status_code == 200
    assert not has_id(to_come, "day-provider")


def test_the_closing_of_a_day_asks_little(admin, yesterday):
    with time_machine.travel(yesterday):
        open_books(10_000_000)
        for number in range(7):
            tell(10_000_000 - 1_000 * (number + 1))
    count_cash()
    day = end_of_day()
    ledger.close_days()

    for path in (f"/shifts/days/{day}/", f"/shifts/days/{day}/sign/"):
        admin.get(path)
        with CaptureQueriesContext(connection) as asked:
            page = admin.get(path)
        assert differences(page) == [-1_000] * 5
        assert len(asked) <= 15
