"""A blind count: until it is done, no page and no file tells the cashier the expected cash."""

import uuid

import pytest

from audit.models import AuditEvent
from drawers.models import DrawerDay, Shift
from drawers.services import close_shift, day_lines, open_shift_of
from policies.errors import LooserNeedsTwo
from policies.services import change_policies
from staff.models import User
from testing.people import browser_of, make_person, signed_in
from tests.core.helpers import codes, has_id, words, words_at
from tests.drawers.helpers import begin, counted, end, pieces_of, sell

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def blind_count():
    change_policies({"blind_count": True}, actor=make_person("admin", username="boss"))


@pytest.fixture
def shift() -> Shift:
    """A shift that opened with 200.000; two sales arrived, for 13.571 and 20.000."""
    shift = begin(make_person("cashier"), cash=200_000)
    for amount in (13_571, 20_000):
        end(sell(shift.cashier, amount), "success")
    return shift


def shows_a_sum(page: str) -> bool:
    """Whether the text has the sum of the sales, or the expected cash."""
    return "33571" in page or "33.571" in page


def test_no_page_of_the_cashier_shows_it_before_the_count(shift):
    browser, own = signed_in(shift.cashier), f"/shifts/{shift.pk}/"
    pages = ["/drawer/", own, f"{own}?paper=80", f"{own}close/", "/counter/", "/", "/orders/sums/"]

    def that_show_it() -> list[str]:
        return [page for page in pages if shows_a_sum(browser.get(page, follow=True).content.decode())]

    assert that_show_it() == []

    with pytest.raises(LooserNeedsTwo):
        change_policies({"blind_count": False}, actor=User.objects.get(username="boss"))
    change_policies({"blind_count": False}, actor=User.objects.get(username="boss"), approved_by=shift.cashier)
    assert that_show_it() == pages


def test_a_count_stands_at_once_and_its_difference_shows_after_it(shift):
    browser, close, file = signed_in(shift.cashier), f"/shifts/{shift.pk}/close/", f"/shifts/{shift.pk}/csv/"
    fields = {"way": "out", "amount": "900.000.000", "reason": "To the safe", "token": str(uuid.uuid4())}
    supervisor = browser_of("supervisor")

    too_much = browser.post("/drawer/paid/", fields)
    added_up = browser.post(close, counted(150_000, sum="1"))
    of_manager = browser_of("administrator").get(close)
    for page in (too_much, added_up, of_manager):
        assert not shows_a_sum(page.content.decode())
    assert [error.code for error in too_much.context["form"].errors.as_data()["amount"]] == ["TooLittleCash"]
    assert "Rp150.000" in added_up.content.decode()
    assert codes(browser.get(file, follow=True)) == {"not_counted"}
    assert open_shift_of(shift.cashier_id) == shift

    done = browser.post(close, counted(233_000), follow=True)

    assert codes(done) == {"closed"}
    shift.refresh_from_db()
    assert (shift.expected, shift.counted, shift.difference, bool(shift.reason)) == (233_571, 233_000, -571, True)
    page = done.content.decode()
    assert shows_a_sum(page)
    assert 'id="line-difference"' in page
    assert browser.get(file)["Content-Type"].startswith("text/csv")
    assert 'id="explain-closing"' in supervisor.get(f"/shifts/{shift.pk}/").content.decode()
    explained = {"count": "closing", "reason": "Change for Rp571"}
    page = supervisor.post(f"/shifts/{shift.pk}/explain/", explained, follow=True).content.decode()
    assert ["Change for Rp571" in page, 'id="explain-closing"' in page] == [True, False]


def test_the_reason_is_written_once_after_the_count_and_never_changes(shift):
    close_shift(shift, pieces=pieces_of(233_000), actor=shift.cashier)
    browser = signed_in(shift.cashier)
    assert 'id="explain-closing"' in browser.get(f"/shifts/{shift.pk}/").content.decode()

    for reason in ("Change for Rp571", "Another story"):
        answer = browser.post(f"/shifts/{shift.pk}/explain/", {"count": "closing", "reason": reason}, follow=True)

    assert codes(answer) == {"DrawerRefused:explained"}
    page = browser.get(f"/shifts/{shift.pk}/").content.decode()
    assert ["Change for Rp571" in page, "Another story" in page, 'id="explain-closing"' in page] == [True, False, False]
    event = AuditEvent.objects.get(kind="closing_explained")
    assert (event.subject, event.facts["difference"]) == (str(shift), -571)
    assert [line.reason for line in day_lines(DrawerDay.objects.get())] == ["Change for Rp571"]
    shift.refresh_from_db()
    assert (shift.counted, shift.difference) == (233_000, -571)


def test_a_blind_opening_says_what_was_left_and_asks_why_only_after_the_count(shift):
    close_shift(shift, pieces=pieces_of(233_500), actor=shift.cashier)
    browser = signed_in(shift.cashier)
    assert ("data-left=" in browser.get("/drawer/").content.decode(), "233.500" in words(browser.get("/drawer/"))) == (
        False,
        False,
    )

    page = browser.post("/drawer/open/", counted(233_000, drawer=shift.drawer.pk), follow=True)

    assert "Rp233.500" in words_at(page, 'data-code="opened_otherwise"')
    opened = Shift.objects.get(closed_at=None)
    assert (opened.opening, opened.opening_difference, bool(opened.opening_reason)) == (233_000, -500, True)
    assert has_id(page, "explain-opening")
    other = browser_of("cashier", username="second")
    others = other.post(f"/shifts/{opened.pk}/explain/", {"count": "opening", "reason": "I"})
    page = browser.post(f"/shifts/{opened.pk}/explain/", {"count": "opening", "reason": "A coin fell"}, follow=True)
    assert others.status_code == 403
    assert words_at(page, 'data-explained="opening"').count("A coin fell") == 1
