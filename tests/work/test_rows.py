"""One row of work: its words, its button, and the person who has taken it."""

import datetime as dt
import re

import pytest
from django.utils import timezone

from approvals.services import ask
from batches.models import Batch, BatchRow
from batches.services import pause, resume
from batches.services.releasing import BATCH, content_of
from branches.models import FIRST
from drawers.models import DrawerDay
from purchases.states import ActionReason, Status
from staff.models import User
from staff.services import Limits, change_limits
from testing.factories import make_order, make_product
from testing.people import browser_of, make_person, signed_in
from tests.approvals.helpers import approver, ask_purchase, cashier
from tests.batches.helpers import CASH, supervisor
from tests.branches.helpers import make_branch
from tests.dues.helpers import due_bill
from tests.reconciliation.helpers import make_difference
from tests.work.helpers import counted, owed, rows
from work.kinds import KINDS
from work.models import Taken

pytestmark = pytest.mark.django_db


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


def test_a_batch_that_a_person_paused_waits_for_a_person():
    batch = unsent_batch(0)
    pause(batch, actor=supervisor())
    boss = signed_in(supervisor())

    assert (rows(boss), counted(boss)) == (["batch"], 1)

    resume(batch, actor=supervisor())
    assert (rows(boss), counted(boss)) == ([], 0)


def test_given_a_request_that_one_can_only_refuse_then_its_row_says_so():
    sari, boss = cashier(), approver("boss")
    change_limits(sari, Limits(approval_above=10_000), actor=boss)
    ask_purchase(User.objects.get(pk=sari.pk), "081234567890")

    steps = {
        name: re.findall(r"data-step[^>]*>([^<]+)<", signed_in(person).get("/work/").content.decode())
        for name, person in {"boss": boss, "budi": approver()}.items()
    }

    assert steps == {"boss": ["Refuse"], "budi": ["Decide"]}


def test_a_difference_waits_for_people_who_may_take_its_sign():
    make_difference(500_000, "topup")
    missing = make_difference(-1_000, "missing_refund")
    make_difference(1_000, "late_refund", makes_good=missing)  # waits for the decision about the missing one
    make_person("administrator", username="boss")
    supervisor = browser_of("supervisor")

    assert (rows(supervisor), counted(supervisor)) == (["difference"], 1)
    assert f"difference-{missing.pk}" in supervisor.get("/work/").content.decode()
    assert "Done by: boss" in supervisor.get("/work/?whose=others").content.decode()
    assert sorted(rows(browser_of("admin"))) == ["difference", "difference"]


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
        assert str(held.get_action_reason_display()) in said[held.pk]
        assert str(gone.get_action_reason_display()) not in said[gone.pk], "a sentence is for its page"
        assert Status.NEEDS_ACTION.badge in said[held.pk], "as in the list of orders"
        assert page.count(str(ActionReason.BALANCE_SHORT.label)) == 1


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


def test_a_row_is_taken_and_left_and_free_again_after_a_shift():
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
    Taken.objects.update(at=timezone.now() - dt.timedelta(hours=13))
    assert (rows(sari), counted(sari)) == (["refund"], 1)
    tono.post(address, {"leave": "", "back": "//elsewhere.example"})
    assert (rows(sari), Taken.objects.count()) == (["refund"], 0)


def test_nobody_takes_what_is_for_others():
    difference = make_difference(-1_000, "unexplained_debit")

    assert browser_of("cashier").post(f"/work/difference/{difference.pk}/take/").status_code == 404
    assert browser_of("viewer").post(f"/work/difference/{difference.pk}/take/").status_code == 403
    owner = browser_of("admin")
    assert owner.post(f"/work/nothing/{difference.pk}/take/").status_code == 404
    assert owner.post(f"/work/difference/{'9' * 30}/take/").status_code == 404
    assert not Taken.objects.exists()


def test_many_days_that_nobody_signed_are_one_row_of_their_branch():
    days = [timezone.localdate() - dt.timedelta(days=number) for number in range(1, 4)]
    DrawerDay.objects.create(day=days[0])
    owner = browser_of("admin")
    assert f'href="/shifts/days/{days[0]}/sign/"' in owner.get("/work/").content.decode()
    assert f'href="/shifts/days/{days[0]}/"' in browser_of("supervisor").get("/work/?whose=others").content.decode()

    second = make_branch("Timur")
    for day in days[1:]:
        DrawerDay.objects.create(day=day)
    DrawerDay.objects.create(day=days[0], branch=second)

    shown = owner.get("/work/").content.decode()

    forms = dict.fromkeys(re.findall(r'href="/shifts/days/(\S+)/sign/\?branch=(\d+)"', shown))
    assert [*forms] == [(str(days[2]), "1"), (str(days[0]), str(second.pk))]
    assert shown.count("and 2 later days") == 1
    assert "later day<" not in shown


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
