"""One list of all waiting work: each kind, its people, the number in the menu, and the person who has taken it."""

import datetime as dt
import re

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from approvals.models import Approval
from approvals.services import ask
from batches.models import Batch, BatchRow
from batches.services import pause, resume
from batches.services.releasing import BATCH, content_of
from branches.models import FIRST
from callbacks.models import Callback
from complaints.services import open_complaint
from customers.models import Customer
from drawers.models import DrawerDay, Payment
from purchases.models import Incident, Order
from purchases.states import ActionReason, Status
from reconciliation.models import Adjustment, ExpectedTopUp
from staff.models import User
from staff.services import Limits, change_limits
from testing.database import statements
from testing.factories import make_order, make_product
from testing.people import browser_of, make_person, signed_in
from tests.approvals.helpers import approver, ask_purchase, cashier
from tests.batches.helpers import CASH, supervisor
from tests.branches.helpers import make_branch
from tests.core.helpers import words
from tests.dues.helpers import due_bill
from tests.plans import asked, copy_many, too_wide
from tests.reconciliation.helpers import make_difference
from work.kinds import KINDS
from work.models import Taken

pytestmark = pytest.mark.django_db


def rows(browser, query: str = "") -> list[str]:
    """The kinds of the rows, in their order."""
    page = browser.get(f"/work/{query}").content.decode()
    return re.findall(r'<tr id="row-(\w+)-\d+"', page)


def counted(browser) -> int:
    """The number in the menu."""
    return int(counted_words(browser))


def counted_words(browser) -> str:
    """The number in the menu, as text."""
    page = browser.get("/orders/").content.decode()
    return page.split('id="count-work"')[1].split(">")[1].split("<")[0]


def owed() -> Payment:
    """The payment of a reversed order, whose customer gets the money."""
    return make_order(Status.REVERSED).payment


def one_of_each() -> None:
    """Make one row of every kind, requested or opened by Sari."""
    sari, now = cashier(own_approval_above=10_000), timezone.now()
    sold = now - dt.timedelta(days=3)
    order = make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT, created_at=sold, sent_at=sold)
    owed()
    incident_of = make_order(Status.SUCCESS)
    Incident.objects.create(order=incident_of, kind="contradiction", source="poll", detail="failed after success")
    make_difference(-1_000, "unexplained_debit")
    ExpectedTopUp.objects.create(amount=500_000, announced_by=sari)
    open_complaint(order, words="nothing came", actor=sari, due_at=now + dt.timedelta(days=2))
    Callback.objects.create(
        content_hash="0" * 64,
        event="transaction.updated",
        body=b"{}",
        headers={},
        is_signed=True,
        tries=2,
        fault="Oops",
    )
    ask_purchase(sari, "081234567890")
    DrawerDay.objects.create(day=timezone.localdate(now) - dt.timedelta(days=2))
    facts = {"state": "paused", "stopped_by": "BalanceShort", "released_at": now}
    Batch.objects.create(branch_id=FIRST, sha256="0" * 64, **facts)
    due_bill("1234567890", fine_on=f"{timezone.localdate(now) + dt.timedelta(days=1)}")


def test_of_what_is_due_in_one_minute_the_most_severe_comes_first():
    # given: two rows that are due in the same minute; the difference was found last
    at = timezone.now().replace(second=0, microsecond=0) - dt.timedelta(days=1)
    order = make_order(Status.SUCCESS)
    Incident.objects.create(order=order, kind="contradiction", source="poll", detail="failed after success", at=at)
    make_difference(-1_000, "unexplained_debit", found_at=at + dt.timedelta(hours=23, seconds=50))

    assert rows(browser_of("admin")) == ["difference", "incident"]


def test_everything_that_waits_is_one_list_with_the_first_due_on_top():
    one_of_each()
    owner = browser_of("admin")

    found = rows(owner)

    assert sorted(found) == sorted(KINDS)
    assert found[0] == "order"
    assert found[-1] == "complaint"
    assert rows(owner, "?kind=refund") == ["refund"]
    assert counted(owner) == len(found)


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


def unsent_batch(count: int) -> Batch:
    """A running batch with so many orders that several tries have not sent."""
    now = timezone.now()
    batch = Batch.objects.create(branch_id=FIRST, sha256="1" * 64, state="running", released_at=now, next_at=now)
    for line in range(1, count + 1):
        order = make_order(destination=f"08123456789{line}", attempt=3, created_at=now - dt.timedelta(minutes=5))
        prices = {"max_price": order.max_price, "selling_price": order.max_price}
        facts = {"product": order.product, "destination": order.destination, **prices, "ref_id": order.ref_id}
        BatchRow.objects.create(batch=batch, line=line, state="placed", order=order, **facts)
    return batch


def test_given_unsent_orders_of_a_batch_then_they_are_one_row():
    batch = unsent_batch(3)
    make_order(attempt=3, created_at=timezone.now() - dt.timedelta(minutes=5))
    person = make_person("admin")
    owner = signed_in(person)

    page = owner.get("/work/?kind=batch").content.decode()

    assert sorted(rows(owner)) == ["batch", "order"]
    assert counted(owner) == 2
    assert f'href="/batches/{batch.pk}/"' in page
    assert KINDS["batch"].lines([batch.pk], person)[batch.pk].about.startswith("3 ")
    assert rows(browser_of("auditor"), "?whose=shop") == ["order"] * 4, "who sees no batches sees its orders"


def test_a_batch_that_was_checked_and_forgotten_waits_from_the_second_day_on():
    now, supervised = timezone.now(), supervisor()
    facts = {"state": "checked", "branch_id": FIRST}
    forgotten, fresh, in_queue, dropped = (Batch.objects.create(sha256=f"{n}" * 64, **facts) for n in range(1, 5))
    yesterday = Batch.objects.exclude(pk=fresh.pk)
    yesterday.update(created_at=now - dt.timedelta(days=1, minutes=10))
    Batch.objects.filter(pk=dropped.pk).update(state="cancelled", ended_at=now)
    content = content_of(in_queue, seller=supervised, payment=CASH)
    ask(BATCH, subject=str(in_queue.pk), content=content, actor=supervised)
    boss = signed_in(supervised)

    page = boss.get("/work/?kind=batch").content.decode()

    assert re.findall(r'<tr id="row-batch-(\d+)"', page) == [str(forgotten.pk)]
    assert f'href="/batches/{forgotten.pk}/"' in page
    assert counted(boss) == 1  # nobody approves their own request


def test_a_batch_that_a_person_paused_waits_for_a_person():
    batch = unsent_batch(0)
    pause(batch, actor=supervisor())
    boss = signed_in(supervisor())

    assert (rows(boss), counted(boss)) == (["batch"], 1)

    resume(batch, actor=supervisor())
    assert (rows(boss), counted(boss)) == ([], 0)


def test_the_number_in_the_menu_is_that_of_the_own_rows():
    one_of_each()
    for role in ("viewer", "cashier", "supervisor", "auditor", "administrator", "admin"):
        person = browser_of(role)

        mine, others, shop = rows(person), rows(person, "?whose=others"), rows(person, "?whose=shop")

        assert counted(person) == len(mine), role
        assert sorted(mine + others) == sorted(shop), role
        assert ("refund" in mine) == (role not in {"viewer", "auditor"}), role
        assert ("order" in mine) == (role in {"supervisor", "administrator", "admin"}), role
        assert ("day" in mine) == (role == "admin"), role


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


def test_given_a_request_that_one_can_only_refuse_then_its_row_says_so():
    sari, boss = cashier(), approver("boss")
    change_limits(sari, Limits(approval_above=10_000), actor=boss)
    ask_purchase(User.objects.get(pk=sari.pk), "081234567890")

    steps = {
        name: re.findall(r"data-step[^>]*>([^<]+)<", signed_in(person).get("/work/").content.decode())
        for name, person in {"boss": boss, "budi": approver()}.items()
    }

    assert steps == {"boss": ["Refuse"], "budi": ["Decide"]}


def test_a_seller_decides_about_the_own_order_that_was_not_charged():
    sari = make_person("cashier", username="sari")
    held = {"action_reason": ActionReason.BALANCE_SHORT, "sent_no": None}
    make_order(Status.NEEDS_ACTION, placed_by=sari, **held)
    make_order(Status.NEEDS_ACTION, placed_by=sari)  # it seems never to have arrived, and may be charged
    make_order(Status.NEEDS_ACTION, **held)

    seller = signed_in(sari)

    assert (rows(seller), counted(seller)) == (["order"], 1)
    assert rows(seller, "?whose=others") == ["order", "order"]
    assert rows(browser_of("admin")) == ["order"] * 3


def test_an_order_of_work_has_the_status_that_orders_give_it():
    make_order(Status.NEEDS_ACTION, action_reason=ActionReason.UNAVAILABLE)

    page = browser_of("admin").get("/work/").content.decode()

    assert Status.NEEDS_ACTION.badge in page
    assert page.count(str(ActionReason.UNAVAILABLE.label)) == 1


def test_the_button_of_an_order_names_the_act_that_is_possible_now():
    now, sari = timezone.now(), make_person("cashier", username="sari")
    short = {"action_reason": ActionReason.BALANCE_SHORT, "sent_no": None, "placed_by": sari}
    orders = {
        "not known": make_order(Status.UNKNOWN, sent_at=now - dt.timedelta(minutes=5)),
        "open for too long": make_order(Status.UNKNOWN, sent_at=now - dt.timedelta(hours=2)),
        "held": make_order(Status.NEEDS_ACTION, **short),
        "never arrived": make_order(Status.NEEDS_ACTION, action_reason=ActionReason.NEVER_ARRIVED),
        "not listed": make_order(Status.NEEDS_ACTION, product=make_product(is_listed=False), **short),
    }

    steps = {
        person.username: {
            name: lines[order.pk].step
            for name, order in orders.items()
            for lines in [KINDS["order"].lines([order.pk], person)]
        }
        for person in (sari, make_person("supervisor", username="boss"))
    }

    check, cancel = "Check", "Cancel the order…"
    checked = {"not known": check, "held": check, "never arrived": check}
    assert steps["boss"] == {**checked, "open for too long": "", "not listed": cancel}
    assert (steps["sari"]["held"], steps["sari"]["not listed"]) == (cancel, cancel)


def test_the_row_of_an_order_says_its_state_and_until_when_to_wait():
    now, browser = timezone.now(), browser_of("admin")
    waits = make_order(Status.UNKNOWN, sent_at=now - dt.timedelta(minutes=5))
    open_for_too_long = make_order(Status.UNKNOWN, sent_at=now - dt.timedelta(hours=2))
    held = make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT)
    gone = make_order(Status.NEEDS_ACTION, action_reason=ActionReason.NEVER_ARRIVED)

    for address in ("/work/", "/work/first/"):
        page = browser.get(address).content.decode()
        said = {
            order.pk: re.search(rf'id="row-order-{order.pk}".*?</tr>', page, re.DOTALL)[0]
            for order in (waits, open_for_too_long, held, gone)
        }
        assert all(order.get_status_display() in said[order.pk] for order in (waits, open_for_too_long, gone))
        assert [pk for pk, row in said.items() if "data-waits" in row] == [waits.pk]
        assert (str(held.get_action_reason_display()) in said[held.pk]) is (address == "/work/")
        assert str(gone.get_action_reason_display()) not in said[gone.pk], "a sentence is for its page"


@pytest.mark.parametrize(("role", "named"), [("admin", ["difference", "incident"]), ("cashier", [])])
def test_who_looks_into_incidents_and_differences_reads_that_there_is_none(role, named):
    browser = browser_of(role)
    page = browser.get("/work/").content.decode()

    assert "data-kind" not in page, "what there is none of is said once"
    assert "none-now" not in browser.get("/work/first/").content.decode()
    page = browser.get("/work/").content.decode().partition('id="none-now"')[2].partition("</p>")[0]
    assert sorted(re.findall(r'data-none="(\w+)"', page)) == named
    leads = [f"{reverse('difference_list')}?state=open", "/work/?kind=incident"]
    assert sorted(re.findall(r'href="([^"]+)"', page)) == (leads if named else [])
    make_difference(-1_000, "unexplained_debit")
    assert "difference" not in [kind.code for kind in browser.get("/work/").context["none"]]


def test_what_two_people_decide_is_listed_once():
    order = make_order(Status.UNKNOWN, sent_at=timezone.now() - dt.timedelta(hours=2))
    difference = make_difference(-1_000, "unexplained_debit")
    owner = browser_of("admin")
    assert sorted(rows(owner)) == ["difference", "order"]

    proposer = make_person("supervisor")
    order.verdicts.create(outcome="failed", evidence="portal", reason="says so", proposed_by=proposer)
    Adjustment.objects.create(difference=difference, reason="fee", proposed_by=proposer)

    assert rows(owner) == []


def test_a_row_is_taken_and_left():
    payment = owed()
    sari, tono = browser_of("cashier", username="sari"), browser_of("cashier", username="tono")
    address = f"/work/refund/{payment.pk}/take/"

    assert sari.post(address, {"back": "/work/"})["Location"] == "/work/"

    assert (rows(sari), rows(tono), counted(tono)) == (["refund"], [], 0)
    assert "sari does this" in tono.get("/work/?whose=others").content.decode()
    tono.post(address)  # a mark of taking binds nobody
    assert (rows(sari), rows(tono)) == ([], ["refund"])
    sari.post(address, {"leave": ""})  # not hers any more
    assert rows(tono) == ["refund"]
    tono.post(address, {"leave": "", "back": "//elsewhere.example"})
    assert (rows(sari), Taken.objects.count()) == (["refund"], 0)


@pytest.mark.parametrize(("language", "said"), [("en", "I do it: others see"), ("id", "Saya kerjakan: orang lain")])
def test_taking_says_to_others_who_does_it(language, said):
    payment = owed()
    browser = browser_of("cashier", language=language)

    page = browser.get("/work/").content.decode()
    taken = browser.post(f"/work/refund/{payment.pk}/take/", follow=True)
    left = browser.post(f"/work/refund/{payment.pk}/take/", {"leave": ""}, follow=True)

    assert f'title="{said}' in page
    assert f'aria-label="{said}' in page
    assert [message.extra_tags for message in taken.context["messages"]] == ["work_taken"]
    assert [message.extra_tags for message in left.context["messages"]] == ["work_left"]


def test_after_a_shift_it_is_free_again():
    payment = owed()
    sari, tono = make_person("cashier"), browser_of("cashier", username="tono")
    Taken.objects.create(kind="refund", key=payment.pk, by=sari, at=timezone.now() - dt.timedelta(hours=13))

    assert (rows(tono), counted(tono)) == (["refund"], 1)


def test_nobody_takes_what_is_for_others():
    difference = make_difference(-1_000, "unexplained_debit")

    assert browser_of("cashier").post(f"/work/difference/{difference.pk}/take/").status_code == 404
    assert browser_of("viewer").post(f"/work/difference/{difference.pk}/take/").status_code == 403
    owner = browser_of("admin")
    assert owner.post(f"/work/nothing/{difference.pk}/take/").status_code == 404
    assert owner.post(f"/work/difference/{'9' * 30}/take/").status_code == 404
    assert not Taken.objects.exists()


def test_a_number_is_shown_as_in_every_list():
    one_of_each()
    Order.objects.update(destination="081234567890")
    Customer.objects.update(name="Bu Sari")

    owner = browser_of("admin")
    assert "0812-3456-7890" in owner.get("/work/").content.decode()
    assert "0812-3456" not in owner.get("/work/first/").content.decode(), "left to Work"
    Group.objects.get(name="supervisor").permissions.remove(Permission.objects.get(codename="view_number"))
    assert "due" in rows(browser_of("supervisor"), "?whose=shop")
    for role in ("auditor", "supervisor"):
        browser = browser_of(role, username=f"other-{role}")
        assert "3456" not in browser.get("/work/?whose=shop").content.decode(), role


def test_a_list_that_stays_open_shows_news_only():
    owner = browser_of("admin")
    page = owner.get("/work/?kind=refund").content.decode()
    assert 'id="no-work"' in page
    address = re.search(r'hx-get="(/work/live/[^"]+)"', page)[1].replace("&amp;", "&")

    assert 'id="work"' not in owner.get(address).content.decode()
    owed()
    assert 'id="row-refund-' in owner.get(address).content.decode()


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


def test_many_days_that_nobody_signed_are_one_row_of_their_branch():
    days = [timezone.localdate() - dt.timedelta(days=number) for number in range(1, 4)]
    second = make_branch("Timur")
    for day in days:
        DrawerDay.objects.create(day=day)
    DrawerDay.objects.create(day=days[0], branch=second)
    owner = browser_of("admin")

    shown = owner.get("/work/").content.decode()

    forms = dict.fromkeys(re.findall(r'href="/shifts/days/(\S+)/sign/\?branch=(\d+)"', shown))
    assert [*forms] == [(str(days[2]), "1"), (str(days[0]), str(second.pk))]
    assert shown.count("and 2 later days") == 1
    assert "later day<" not in shown


def test_a_day_leads_an_owner_to_the_form_that_signs_it():
    yesterday = timezone.localdate() - dt.timedelta(days=1)
    DrawerDay.objects.create(day=yesterday)

    assert f'href="/shifts/days/{yesterday}/sign/"' in browser_of("admin").get("/work/").content.decode()
    assert f'href="/shifts/days/{yesterday}/"' in browser_of("supervisor").get("/work/?whose=others").content.decode()


def test_a_kind_alone_is_its_queue_and_leads_to_the_list_with_the_finished():
    one_of_each()
    owner = browser_of("admin", username="boss")

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


def test_a_queue_shows_the_work_of_others_too_and_keeps_its_kind():
    one_of_each()
    auditor = browser_of("auditor")

    page = auditor.get("/work/?kind=approval").content.decode()

    assert rows(auditor, "?kind=approval") == ["approval"]
    assert rows(auditor, "?kind=approval&whose=") == []
    groups = page.split('id="work-groups"')[1].split("</nav>")[0]
    assert re.findall(r'whose=(\w*)&amp;kind=approval"[^>]*>[^(]*\((\d+)\)', groups) == [
        ("", "0"),
        ("others", "1"),
        ("shop", "1"),
    ]


def test_an_empty_kind_names_the_other_work():
    make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT)

    assert "None of this kind. Other work: 1" in words(browser_of("admin").get("/work/?kind=refund"))


def test_a_bill_due_is_checked_and_paid_from_its_row():
    due_bill("1234567890")
    seller, looker = browser_of("supervisor"), browser_of("auditor")

    row = seller.get("/work/?kind=due").content.decode().split('<tr id="row-due')[1].split("</tr>")[0]
    address = re.search(r'data-at-once href="([^"]+)"', row)[1].replace("&amp;", "&")

    assert 'name="destination" value="1234567890"' in seller.get(address).content.decode()
    assert "data-at-once" not in looker.get("/work/?kind=due").content.decode()


def test_a_refund_has_one_colour_in_work_and_in_its_list():
    payment, owner = owed(), browser_of("admin")

    pages = [owner.get(address).content.decode() for address in ("/work/", "/refunds/")]

    colours = [re.search(rf'<tr id="row-[a-z-]*{payment.pk}".*?status (status-\w+)', page, re.DOTALL) for page in pages]
    assert [found and found[1] for found in colours] == ["status-bad", "status-bad"]
