"""One list of all waiting work: each kind, its people, and the number in the menu."""

import datetime as dt
import re

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from approvals.models import Approval
from complaints.services import open_complaint
from customers.models import Customer
from purchases.models import Incident, Order
from purchases.states import ActionReason, Status
from reconciliation.models import Adjustment
from testing.database import statements
from testing.factories import make_order
from testing.people import browser_of, make_person, signed_in
from tests.approvals.helpers import approver, ask_purchase, cashier
from tests.core.helpers import words
from tests.plans import asked, copy_many, too_wide
from tests.reconciliation.helpers import make_difference
from tests.work.helpers import counted, counted_words, one_of_each, owed, rows
from work import services
from work.kinds import KINDS

pytestmark = pytest.mark.django_db


def test_of_what_is_due_in_one_minute_the_most_severe_comes_first():
    # given: two rows that are due in the same minute; the difference was found last
    at = timezone.now().replace(second=0, microsecond=0) - dt.timedelta(days=1)
    order = make_order(Status.SUCCESS)
    Incident.objects.create(order=order, kind="contradiction", source="poll", detail="failed after success", at=at)
    make_difference(-1_000, "unexplained_debit", found_at=at + dt.timedelta(seconds=50))

    assert rows(browser_of("admin")) == ["difference", "incident"]


def test_everything_that_waits_is_one_list_with_the_first_due_on_top():
    one_of_each()
    owner, auditor = browser_of("admin"), browser_of("auditor")

    found = rows(owner)

    assert sorted(found) == sorted(KINDS)
    assert found[0] == "order"
    assert found[-1] == "complaint"
    assert rows(owner, "?kind=refund") == ["refund"]
    assert counted(owner) == len(found)

    # a kind alone is its queue and leads to the list with the finished
    for kind, every in (
        ("approval", "/approvals/"),
        ("refund", "/refunds/?state=all"),
        ("due", "/due/"),
        ("complaint", "/complaints/?state=all"),
    ):
        page = owner.get(f"/work/?kind={kind}").content.decode()

        assert set(re.findall(r'<tr id="row-(\w+)-\d+"', page)) == {kind}
        assert f"<h1>{KINDS[kind].words}</h1>" in page
        assert f'id="every-one" href="{every.replace("&", "&amp;")}"' in page
        assert owner.get(every).status_code == 200

    # a queue shows the work of others, too, and keeps its kind
    page = auditor.get("/work/?kind=approval").content.decode()
    assert rows(auditor, "?kind=approval") == ["approval"]
    assert rows(auditor, "?kind=approval&whose=") == []
    groups = page.split('id="work-groups"')[1].split("</nav>")[0]
    assert re.findall(r'whose=(\w*)&amp;kind=approval"[^>]*>[^(]*\((\d+)\)', groups) == [
        ("", "0"),
        ("others", "1"),
        ("shop", "1"),
    ]


def test_the_number_in_the_menu_is_that_of_the_own_rows_and_numbers_are_as_in_every_list():
    one_of_each()
    for role in ("viewer", "cashier", "supervisor", "auditor", "administrator", "admin"):
        person = browser_of(role)

        mine, others, shop = rows(person), rows(person, "?whose=others"), rows(person, "?whose=shop")

        assert counted(person) == len(mine), role
        assert sorted(mine + others) == sorted(shop), role
        assert ("refund" in mine) == (role not in {"viewer", "auditor"}), role
        assert ("order" in mine) == (role in {"supervisor", "administrator", "admin"}), role
        assert ("day" in mine) == (role == "admin"), role

    Order.objects.update(destination="081234567890")
    Customer.objects.update(name="Bu Sari")
    owner = browser_of("admin", username="second-owner")
    assert "0812-3456-7890" in owner.get("/work/").content.decode()
    assert "0812-3456" not in owner.get("/work/first/").content.decode(), "left to Work"
    Group.objects.get(name="supervisor").permissions.remove(Permission.objects.get(codename="view_number"))
    assert "due" in rows(browser_of("supervisor", username="third"), "?whose=shop")
    for role in ("auditor", "supervisor"):
        browser = browser_of(role, username=f"other-{role}")
        assert "3456" not in browser.get("/work/?whose=shop").content.decode(), role


def test_headings_say_what_is_overdue_due_today_and_later(time_machine):
    # given: two rows of each group; the second overdue row is due in the minute of the view
    noon = timezone.localtime().replace(hour=12, minute=0, second=30, microsecond=0)
    time_machine.move_to(noon - dt.timedelta(hours=2), tick=False)
    sari = make_person("cashier", username="sari")
    for minutes in (-90, 0, 60, 120, 24 * 60, 48 * 60):
        due = noon + dt.timedelta(minutes=minutes, seconds=20)
        open_complaint(make_order(Status.SUCCESS), words="nothing came", actor=sari, due_at=due)
    time_machine.move_to(noon, tick=False)
    owner = browser_of("admin", language="en")

    pages = [owner.get(f"/work/?kind={kind}").content.decode() for kind in ("", "complaint")]

    for page in pages:
        table = re.findall(r'colgroup" colspan="5">(\w+)<|<tr id="row-(complaint)|data-(overdue)', page)
        assert ["".join(part) for part in table] == [
            *("Overdue", "complaint", "overdue", "complaint", "overdue"),
            *("Today", "complaint", "complaint"),
            *("Later", "complaint", "complaint"),
        ]
    assert "colgroup" not in owner.get("/work/first/").content.decode()
    assert counted(owner) == 6


def test_the_number_in_the_menu_reads_no_further_than_it_counts():
    copy_many("drawers_payment", owed(), id="1000000 + n", ref_id="'OWED' || n")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE drawers_payment")

    with CaptureQueriesContext(connection) as queries:
        words = counted_words(browser_of("admin"))

    assert words == "99+"
    assert list(too_wide(asked(queries.captured_queries), {"drawers_payment"})) == []


def test_given_very_much_work_then_a_kind_still_has_its_rows(monkeypatch):
    monkeypatch.setattr(services, "MOST", 2)
    payment, sari, long_ago = owed(), make_person("cashier", username="sari"), timezone.now() - dt.timedelta(days=9)
    for _ in range(2):
        open_complaint(make_order(Status.SUCCESS), words="nothing came", actor=sari, due_at=long_ago)
    seller = signed_in(sari)

    assert (rows(seller), rows(seller, "?kind=refund")) == (["complaint", "complaint"], ["refund"])
    assert seller.post(f"/work/refund/{payment.pk}/take/").status_code == 302


def test_the_own_request_waits_for_somebody_else():
    sari, budi = cashier(own_approval_above=10_000), approver()
    ask_purchase(sari, "081234567890")

    asker, decider = signed_in(sari), signed_in(budi)

    assert (counted(asker), counted(decider)) == (0, 1)
    assert 'hx-swap-oob="true"' in decider.get("/balance/alerts/now/?seen=").content.decode()
    assert (rows(asker), rows(asker, "?whose=others")) == ([], ["approval"])
    for address in ("/work/?whose=others", Approval.objects.get().get_absolute_url()):
        assert f"Done by: {budi.shown_name}" in asker.get(address).content.decode()
    assert (rows(decider), rows(decider, "?whose=others")) == (["approval"], [])


def test_who_looks_into_incidents_and_differences_reads_that_there_is_none():
    owner = browser_of("admin")
    for browser, named in ((owner, ["difference", "incident"]), (browser_of("cashier"), [])):
        page = browser.get("/work/").content.decode()
        assert "data-kind" not in page, "what there is none of is said once"
        assert "none-now" not in browser.get("/work/first/").content.decode()
        page = page.partition('id="none-now"')[2].partition("</p>")[0]
        assert sorted(re.findall(r'data-none="(\w+)"', page)) == named
        leads = [f"{reverse('difference_list')}?state=open", "/work/?kind=incident"]
        assert sorted(re.findall(r'href="([^"]+)"', page)) == (leads if named else [])

    make_difference(-1_000, "unexplained_debit")
    assert "difference" not in [kind.code for kind in owner.get("/work/").context["none"]]


def test_what_two_people_decide_is_listed_once():
    order = make_order(Status.UNKNOWN, sent_at=timezone.now() - dt.timedelta(hours=2))
    difference = make_difference(-1_000, "unexplained_debit")
    owner = browser_of("admin")
    assert sorted(rows(owner)) == ["difference", "order"]

    proposer = make_person("supervisor")
    order.verdicts.create(outcome="failed", evidence="portal", reason="says so", proposed_by=proposer)
    Adjustment.objects.create(difference=difference, reason="fee", proposed_by=proposer)

    assert rows(owner) == []
    # the difference is still open, so the page does not call it gone
    assert [kind.code for kind in owner.get("/work/").context["none"]] == ["incident"]


def test_many_rows_take_as_many_questions_as_one():
    owner, counts = browser_of("admin"), []
    for _ in range(2):
        for _ in range(3):
            owed()
            make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT)
        with statements() as asked:
            owner.get("/work/")
        counts.append(len(asked))

    assert counts[0] == counts[1] <= 12


def test_a_list_that_stays_open_shows_news_only_and_an_empty_one_names_the_other_work():
    owner = browser_of("admin")
    page = owner.get("/work/?kind=refund").content.decode()
    assert 'id="no-work"' in page
    address = re.search(r'hx-get="(/work/live/[^"]+)"', page)[1].replace("&amp;", "&")
    assert 'id="work"' not in owner.get(address).content.decode()

    make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT)
    assert "None of this kind. Other work: 1" in words(owner.get("/work/?kind=refund"))
    owed()
    assert 'id="row-refund-' in owner.get(address).content.decode()
