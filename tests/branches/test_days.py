"""A day is closed and signed in each branch by itself; the shop's day is their sum."""

import csv
import datetime as dt
import io
import re

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from audit.models import AuditEvent
from audit.services.rules import rule_flaws
from branches.models import FIRST
from drawers.errors import DrawerRefused
from drawers.models import Drawer, DrawerDay, Shift
from drawers.services import change_drawer, close_shift, open_shifts_until, sign_day
from testing.database import past_triggers
from testing.people import browser_of, make_person, signed_in
from tests.branches.helpers import make_branch
from tests.drawers.helpers import begin, end_of_day, pieces_of

pytestmark = pytest.mark.django_db


def close_one(name: str, branch: int, counted: int) -> Shift:
    """A shift of this branch that began with Rp200.000 and was closed with this count."""
    person = make_person("cashier", username=name, first_name=name.capitalize(), branch_id=branch)
    shift = begin(person, drawer=Drawer.objects.create(name=f"Laci {name}", branch_id=branch))
    return close_shift(shift, pieces=pieces_of(counted), actor=person, reason="miscounted")


@pytest.fixture
def tebet() -> int:
    """A branch where Siti closed a shift yesterday, as Andi did in the first one, each with a difference."""
    branch = make_branch().pk
    close_one("andi", FIRST, 190_000)
    close_one("siti", branch, 230_000)
    return branch


def shown(browser, day: dt.date, query: str = "") -> tuple[str, dict]:
    answer = browser.get(f"/shifts/days/{day}/{query}")
    return answer.content.decode(), answer.context


def test_each_branch_has_its_day_and_that_of_the_shop_is_their_sum(admin, tebet):
    days = DrawerDay.objects.values_list("branch", "shifts__cashier__username")
    assert sorted(days) == [(FIRST, "andi"), (tebet, "siti")]
    assert [flaw for flaw in rule_flaws() if flaw.table == "drawers_drawerday"] == []
    day = end_of_day()

    whole, of_all = shown(admin, day)
    own, of_one = shown(admin, day, f"?branch={tebet}")

    assert (of_all["sum"]["counted"], of_all["sum"]["difference"]) == (420_000, 20_000)
    assert (of_one["sum"]["counted"], of_one["sum"]["difference"]) == (230_000, 30_000)
    assert ("Andi" in whole, "Siti" in whole) == (True, True)
    assert ("Andi" in own, "Siti" in own) == (False, True)
    assert ('id="to-sign"' in whole, 'id="signed-by-branch"' in whole) == (False, True)
    assert f'/sign/?branch={tebet}"' in own
    lines = b"".join(admin.get(f"/shifts/days/{day}/csv/?branch={tebet}")).decode()
    assert ("Andi" in lines, "Siti" in lines) == (False, True)

    # work names both days, and a bound person sees one
    page = admin.get("/work/?kind=day").content.decode()
    assert page.count('id="row-day-') == 2
    assert f"/sign/?branch={tebet}" in page
    assert admin.get(f"/work/?kind=day&branch={tebet}").content.decode().count('id="row-day-') == 1
    sonia = browser_of("supervisor", username="sonia", branch_id=tebet, bound_since="2026-01-01T00:00Z")
    page, context = shown(sonia, day, f"?branch={FIRST}")
    assert ("Andi" in page, "Siti" in page) == (False, True)
    assert context["sum"]["counted"] == 230_000
    assert 'id="day-branches"' not in page


def test_a_branch_is_signed_by_itself(admin, tebet):
    day = end_of_day()
    assert admin.get(f"/shifts/days/{day}/sign/").status_code == 302
    admin.confirm(f"/shifts/days/{day}/sign/", {"seen": ""})
    assert not DrawerDay.objects.exclude(signed_at=None).exists(), "without a branch nothing is signed"
    page = admin.get(f"/shifts/days/{day}/sign/?branch={tebet}").content.decode()
    seen = re.search(r'name="seen" value="(\w+)"', page)[1]

    admin.confirm(f"/shifts/days/{day}/sign/", {"branch": tebet, "seen": seen})

    rows = {row.branch_id: row for row in DrawerDay.objects.all()}
    assert [rows[branch].signed_at is not None for branch in (FIRST, tebet)] == [False, True]
    assert [line["cashier"] for line in rows[tebet].facts["lines"]] == ["Siti"]
    assert AuditEvent.objects.get(kind="day_signed").facts["branch"] == tebet
    assert shown(admin, day)[1]["sum"]["counted"] == 420_000
    assert 'id="signed"' in shown(admin, day, f"?branch={tebet}")[0]
    assert 'id="to-sign"' in shown(admin, day, f"?branch={FIRST}")[0]


def test_an_open_shift_keeps_only_its_own_branch_from_being_signed(tebet):
    owner, day = make_person("admin"), end_of_day()
    late = begin(make_person("cashier", username="budi"), drawer=Drawer.objects.create(name="Laci budi"))
    with past_triggers() as cursor:
        cursor.execute("UPDATE drawers_shift SET opened_at = opened_at - interval '1 day' WHERE id = %s", [late.pk])

    assert [shift.pk for shift in open_shifts_until(day)] == [late.pk]
    assert sign_day(day, branch=tebet, actor=owner).signed_at
    with pytest.raises(DrawerRefused) as refused:
        sign_day(day, branch=FIRST, actor=owner)
    assert refused.value.reason == "day_open"


def test_given_a_branch_with_an_open_shift_alone_then_the_shops_day_is_not_signed_in_every_branch(admin):
    close_one("andi", FIRST, 200_000)
    day, tebet = end_of_day(), make_branch().pk
    person = make_person("cashier", username="siti", branch_id=tebet)
    late = begin(person, drawer=Drawer.objects.create(name="Laci siti", branch_id=tebet))
    with past_triggers() as cursor:
        cursor.execute("UPDATE drawers_shift SET opened_at = opened_at - interval '1 day' WHERE id = %s", [late.pk])
    sign_day(day, branch=FIRST, actor=make_person("admin", username="boss"))

    page, of_all = shown(admin, day)

    assert (of_all["is_signed"], [shift.pk for shift in of_all["open_shifts"]]) == (False, [late.pk])
    assert of_all["cash"].code == "open"
    assert 'id="open-shifts"' in page
    of_first = shown(admin, day, f"?branch={FIRST}")[1]
    assert (of_first["is_signed"], of_first["open_shifts"]) == (True, [])


def test_given_a_drawer_moves_then_a_bound_person_still_sees_its_shift_in_the_day_that_counted_it(tebet):
    day, shift = timezone.localdate(), Shift.objects.get(cashier__username="andi")
    browsers = {
        branch: signed_in(make_person("supervisor", username=f"of-{branch}", branch_id=branch, bound_since=day_ago()))
        for branch in (FIRST, tebet)
    }
    with past_triggers() as cursor:  # as a day from before each branch had its own days: also of another branch
        cursor.execute("UPDATE drawers_shift SET day_id = %s", [shift.day_id])

    change_drawer(shift.drawer, name="Laci andi", is_active=True, branch=tebet, actor=make_person("admin"))
    with past_triggers() as cursor:  # a later transaction has a later time
        cursor.execute(
            "UPDATE drawers_drawerhistory SET pgh_created_at = pgh_created_at + interval '1 hour'"
            " WHERE branch_id = %s AND pgh_obj_id = %s",
            [tebet, shift.drawer_id],
        )

    page, of_first = shown(browsers[FIRST], day)
    assert (of_first["sum"]["counted"], of_first["sum"]["difference"]) == (190_000, -10_000)
    file = b"".join(browsers[FIRST].get(f"/shifts/days/{day}/csv/")).decode()
    assert ("Andi" in file, "Siti" in file) == (True, False)
    links = re.findall(r'href="(/shifts/\d+/)"', page)
    assert [link for link in links if browsers[FIRST].get(link).status_code != 200] == []
    assert shown(browsers[tebet], day)[1]["lines"] == []


def test_given_a_drawer_moves_between_two_shifts_of_a_day_then_the_shops_day_counts_its_cash_once(admin):
    tebet, day, drawer = make_branch().pk, timezone.localdate(), Drawer.objects.create(name="Laci", branch_id=FIRST)
    andi = make_person("cashier", username="andi", branch_id=FIRST)
    close_shift(begin(andi, drawer=drawer, cash=200_000), pieces=pieces_of(190_000), actor=andi, reason="miscounted")
    change_drawer(drawer, name="Laci", is_active=True, branch=tebet, actor=make_person("admin", username="boss"))
    siti = make_person("cashier", username="siti", branch_id=tebet)
    close_shift(begin(siti, drawer=drawer, cash=190_000), pieces=pieces_of(190_000), actor=siti)

    sums = {branch: shown(admin, day, f"?branch={branch}")[1]["sum"] for branch in ("", FIRST, tebet)}

    assert {branch: own["counted"] for branch, own in sums.items()} == {"": 190_000, FIRST: 190_000, tebet: 190_000}
    assert {branch: own["difference"] for branch, own in sums.items()} == {"": -10_000, FIRST: -10_000, tebet: 0}
    lines = csv.DictReader(io.StringIO(b"".join(admin.get(f"/shifts/days/{day}/csv/")).decode("utf-8-sig")))
    assert sum(int(line["last_count"]) for line in lines) == 190_000


def day_ago() -> dt.datetime:
    return timezone.now() - dt.timedelta(days=1)


def test_a_shift_never_enters_the_day_of_another_branch_and_a_day_never_changes_it(tebet):
    person = make_person("cashier", username="budi")
    shift = begin(person, drawer=Drawer.objects.create(name="Laci budi"), cash=0)
    closed = {"closed_at": shift.opened_at, "closed_by": person, "counted": 0, "counted_pieces": pieces_of(0)}
    closed |= {"expected": 0, "difference": 0}

    with pytest.raises(DatabaseError, match="another branch"), transaction.atomic():
        Shift.objects.filter(pk=shift.pk).update(day=DrawerDay.objects.get(branch=tebet), **closed)
    with pytest.raises(DatabaseError), transaction.atomic():
        DrawerDay.objects.filter(branch=FIRST).update(branch=make_branch("Depok"))


def test_a_shop_with_one_branch_is_not_asked_for_it(admin):
    close_one("andi", FIRST, 190_000)
    day = end_of_day()

    page, _context = shown(admin, day)

    assert "branch=" not in page
    assert 'id="day-branches"' not in page
    assert 'id="to-sign"' in page
