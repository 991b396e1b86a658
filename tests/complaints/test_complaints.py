"""A complaint is opened, asked, answered and closed; overdue ones come first, and no order's status changes."""

import datetime as dt
import html
import re
from functools import partial

import pytest
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from alerts.models import Alert
from alerts.services import evaluate_alerts
from complaints.errors import ComplaintRefused
from complaints.models import Complaint, ComplaintEvent, State
from complaints.services import move_complaint, open_complaint
from purchases.models import Order, OrderEvent
from purchases.states import ActionReason, Status
from testing.factories import make_order
from testing.orders import at_once
from testing.people import browser_of, make_person
from tests.core.helpers import next_question
from tests.plans import MANY, asked, copy_many, too_wide, weigh

pytestmark = pytest.mark.django_db(transaction=True)


def complain(order=None, actor=None, **facts) -> Complaint:
    order = order or make_order(Status.SUCCESS)
    return open_complaint(order, words="Not on the phone", actor=actor or make_person("cashier"), **facts)


def test_a_complaint_is_opened_asked_answered_and_closed_on_the_page():
    order, browser = make_order(Status.SUCCESS, sn="SN-1"), browser_of("cashier")
    before = (order.status, OrderEvent.objects.count())
    browser.post(f"/complaints/{order.ref_id}/open/", {"words": "Not on the phone", "hours": "4"})
    complaint = Complaint.objects.get()
    assert abs((complaint.due_at - complaint.opened_at).total_seconds() - 4 * 3600) < 60

    for to in ("asked", "note", "answered", "closed"):
        browser.post(f"/complaints/{complaint.pk}/step/", {"words": f"now {to}", "hours": "24", "to": to})

    complaint.refresh_from_db()
    assert (complaint.state, complaint.closed_at is not None) == (State.CLOSED, True)
    story = list(ComplaintEvent.objects.order_by("pk").values_list("state", flat=True))
    assert story == ["open", "asked", "asked", "answered", "closed"]
    order.refresh_from_db()
    assert (order.status, OrderEvent.objects.count()) == before
    page = browser.get("/arrived/", {"q": order.ref_id}).content.decode()
    assert 'id="complaint-events"' in page
    assert 'id="complaint-new"' in page


def test_an_orders_page_says_what_to_do_about_a_wrong_number():
    browsers = {role: browser_of(role) for role in ("supervisor", "cashier")}
    for status, facts, role, code in [
        (Status.QUEUED, {}, "supervisor", "cancel"),
        (Status.QUEUED, {}, "cashier", "ask_to_cancel"),
        (Status.QUEUED, {"sent_no": 1}, "supervisor", "cannot_be_stopped"),
        (Status.NEEDS_ACTION, {"action_reason": ActionReason.BALANCE_SHORT}, "supervisor", "cancel"),
        (Status.UNKNOWN, {}, "cashier", "cannot_be_stopped"),
        (Status.SUCCESS, {}, "cashier", "cannot_be_stopped"),
        (Status.FAILED, {}, "cashier", ""),
    ]:
        order, browser = make_order(status, **facts), browsers[role]

        page = browser.get(order.get_absolute_url()).content.decode()

        assert ('id="wrong-number"' in page, f'data-code="{code}"' in page) == (bool(code), bool(code)), status
        link = re.search(r'id="complain-wrong-number"\s+href="([^"]+)"', page)
        assert (link is not None) == (code == "cannot_be_stopped"), status
        if link:
            begun = browser.get(html.unescape(link[1])).content.decode()
            assert '<details class="with-note" id="complaint-new" open>' in begun
            assert 'value="Wrong number typed. The right one: "' in begun


def test_a_note_on_a_page_from_before_a_step_keeps_the_new_state():
    # given two windows with a complaint that upstream was asked about, and a step in one of them
    person = make_person("supervisor")
    complaint, browser = complain(actor=person), browser_of("cashier")
    move_complaint(complaint, to="asked", words="They look", actor=person)
    page = browser.get("/arrived/", {"q": complaint.order.ref_id}).content.decode()
    note = re.search(r'id="complaint-step".*?name="to" value="(\w+)"', page, re.DOTALL)[1]
    move_complaint(complaint, to="answered", words="It has arrived", actor=person)

    # when the other one only notes something
    facts = {"words": "The customer called again", "hours": "4", "to": note}
    browser.post(f"/complaints/{complaint.pk}/step/", facts)

    # then the note moves nothing
    complaint.refresh_from_db()
    assert (complaint.state, complaint.events.count()) == (State.ANSWERED, 4)


def test_what_makes_no_sense_is_refused_also_by_the_database():
    person = make_person("cashier")
    complaint = complain(actor=person)
    with pytest.raises(ComplaintRefused) as refusal:
        complain(complaint.order, person)
    assert refusal.value.reason == "open_already"
    move_complaint(complaint, to="closed", words="Arrived after all", actor=person)
    for to in ("open", "closed", "asked"):
        with pytest.raises(ComplaintRefused) as refusal:
            move_complaint(complaint, to=to, words="?", actor=person)
        assert refusal.value.reason == "moved"
    with pytest.raises(ComplaintRefused):
        complain(complaint.order, make_person("auditor"))

    # the database keeps what was said and closed
    for table, change in (
        ("complaints_complaint", "SET state = 'open', closed_at = NULL"),
        ("complaints_complaintevent", "SET words = 'x'"),
    ):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE {table} {change}")
    assert complaint.history.count() == 2

    assert complain(complaint.order, person).state == State.OPEN


def test_of_two_who_open_or_close_at_once_one_does():
    order, people = make_order(Status.SUCCESS), [make_person("cashier"), make_person("supervisor")]
    results = at_once(*[partial(complain, order, person) for person in people])
    assert [getattr(result, "reason", "") for result in results].count("open_already") == 1
    complaint = Complaint.objects.get()

    results = at_once(
        *[partial(move_complaint, complaint, to="closed", words="Done", actor=person) for person in people]
    )

    assert [getattr(result, "reason", "") for result in results].count("moved") == 1
    assert ComplaintEvent.objects.count() == 2


def test_the_overdue_come_first_with_an_alert_and_a_count():
    person = make_person("cashier")
    now = timezone.now()
    later = complain(make_order(Status.SUCCESS, destination="081200000001"), person)
    late = complain(
        make_order(Status.SUCCESS, destination="081200000002"), person, due_at=now - dt.timedelta(minutes=1)
    )
    closed = complain(make_order(Status.SUCCESS, destination="081200000003"), person)
    move_complaint(closed, to="closed", words="Done", actor=person)
    evaluate_alerts()
    browser = browser_of("auditor")

    page = browser.get("/complaints/").content.decode()
    assert page.index(late.order.ref_id) < page.index(later.order.ref_id)
    assert page.count("data-overdue") == 1
    assert closed.order.ref_id not in page
    assert closed.order.ref_id in browser.get("/complaints/?state=closed").content.decode()
    assert Alert.objects.open().filter(kind="complaint_overdue").count() == 1

    move_complaint(late, to="asked", words="Asked", actor=person)
    evaluate_alerts()

    assert not Alert.objects.open().filter(kind="complaint_overdue").exists()


def test_who_has_no_right_opens_and_sees_nothing():
    order = make_order(Status.SUCCESS)
    complaint = complain(order)
    for who, expected in (("viewer", 403), ("auditor", 200)):
        browser = browser_of(who)
        assert browser.get("/complaints/").status_code == expected
        assert browser.post(f"/complaints/{order.ref_id}/open/", {"words": "x", "hours": "4"}).status_code == 403
        assert browser.post(f"/complaints/{complaint.pk}/step/", {"words": "x", "to": "closed"}).status_code == 403
    assert (
        'id="complaint"'
        not in browser_of("viewer", username="v").get("/arrived/", {"q": order.ref_id}).content.decode()
    )
    assert Order.objects.get().status == Status.SUCCESS


def refs_of(page) -> list[str]:
    """The orders of the rows of a list, from its top."""
    return re.findall(r'<div class="mono sub nowrap">([^<]+)<', page.content.decode())


def test_the_list_goes_on_from_page_to_page_and_back_by_few_queries(django_assert_max_num_queries):
    person, now = make_person("cashier"), timezone.now()
    wanted = []
    for n in range(60):
        order = make_order(Status.SUCCESS, destination=f"0812000000{n:02d}")
        complain(order, person, due_at=now + dt.timedelta(minutes=n // 2))
        wanted.append(order.ref_id)
    browser = browser_of("supervisor")

    first = browser.get("/complaints/")
    [on] = re.findall(r'href="([^"]*newer=[^"]*)"', first.content.decode())
    second = browser.get(f"/complaints/{html.unescape(on)}")
    [back] = re.findall(r'href="([^"]*older=[^"]*)"', second.content.decode())

    assert refs_of(first) + refs_of(second) == wanted
    assert refs_of(browser.get(f"/complaints/{html.unescape(back)}")) == refs_of(first)
    assert len(refs_of(first)) == 50
    owner = browser_of("admin")
    for query in ("", "?state=all", "?q=081200000003"):
        with django_assert_max_num_queries(8):
            assert owner.get(f"/complaints/{query}").status_code == 200


def test_with_many_closed_ones_the_list_and_the_answer_stay_flat():
    person = make_person("cashier")
    order = make_order(Status.SUCCESS, destination="081234567890", sn="SN-20261122-7")
    complaint = complain(order, person)
    old = complain(make_order(Status.SUCCESS, destination="081234567891"), person)
    move_complaint(old, to="closed", words="Done", actor=person)
    old.refresh_from_db()
    names = {"ref_id": "'OLD' || n", "idempotency_key": "'OLD' || n", "destination": "'0899' || n", "sn": "'777' || n"}
    earlier = "o.{0} - interval '30 days' - n * interval '1 minute'"
    copy_many("purchases_order", old.order, id="1000000 + n", created_at=earlier.format("created_at"), **names)
    copies = {"id": "1000000 + n", "order_id": "1000000 + n", "opened_at": earlier.format("opened_at")}
    copy_many("complaints_complaint", old, **copies)
    copy_many("complaints_complaintevent", old.events.first(), id="1000000 + n", complaint_id="1000000 + n")
    weigh("complaints_complaint", "complaints_complaintevent")
    browser = browser_of("admin")
    growing = {"purchases_order", "complaints_complaint", "complaints_complaintevent"}
    lists = ["", "?state=open", "?state=asked", "?state=closed", "?state=all", "?q=081234567890", f"?q={order.ref_id}"]
    question, _delay = next_question(
        browser.get("/arrived/", {"q": make_order(Status.PENDING, destination="0812999").ref_id})
    )
    addresses = [f"/complaints/{query}" for query in lists]
    addresses += [f"/arrived/?q={order.ref_id}", "/arrived/?q=081234567890", "/arrived/?q=SN-20261122-7", question]
    counts = []
    for address in (*addresses, f"/orders/{order.ref_id}/"):
        browser.get(address)
        with CaptureQueriesContext(connection) as queries:
            assert browser.get(address).status_code == 200, address
        assert len(queries) <= 15
        counts += too_wide(asked(queries.captured_queries), growing)

    assert counts == []
    assert Complaint.objects.count() > MANY
    assert complaint.state == State.OPEN


def test_the_page_of_an_order_says_that_a_complaint_is_open():
    order, other = make_order(Status.SUCCESS), make_order(Status.SUCCESS, destination="081200000001")
    complaint = complain(order, make_person("supervisor"), due_at=timezone.now() - dt.timedelta(minutes=1))
    browser = browser_of("cashier")

    page = browser.get(f"/orders/{order.ref_id}/").content.decode()
    assert 'id="order-complaint"' in page
    assert "data-overdue" in page
    assert f'href="/arrived/?q={order.ref_id}#complaint"' in page
    assert 'id="order-complaint"' not in browser.get(f"/orders/{other.ref_id}/").content.decode()
    assert 'id="order-complaint"' not in browser_of("viewer").get(f"/orders/{order.ref_id}/").content.decode()
    move_complaint(complaint, to="closed", words="Done", actor=complaint.opened_by)

    assert 'id="order-complaint"' not in browser.get(f"/orders/{order.ref_id}/").content.decode()
