"""The page of an order in doubt: what to do now, until when to wait, and who decides then."""

import datetime as dt
import html
import itertools
import re

import pytest
from django.utils import timezone, translation

from alerts.kinds import KINDS
from core.times import short_time
from policies.models import Policies
from policies.services import forget
from purchases.models import Order
from purchases.presenting import explain
from purchases.services import propose_verdict
from purchases.services.actions import allowed_actions, decided_from
from purchases.states import Status
from purchases.what_now import what_now
from staff.models import User
from testing.database import past_triggers
from testing.factories import make_order
from testing.orders import never_arrived, place, sent_before
from testing.people import make_person, signed_in
from tests.core.helpers import codes, has_id, words
from tests.purchases.helpers import detail

pytestmark = pytest.mark.django_db


def in_doubt_since(minutes: int, status: Status = Status.UNKNOWN) -> Order:
    """An order that was sent so many minutes ago, without an outcome; polled again in 5 minutes."""
    order, now = make_order(status, polls=3), timezone.now()
    times = {"sent_at": now - dt.timedelta(minutes=minutes), "next_poll_at": now + dt.timedelta(minutes=5)}
    Order.objects.filter(pk=order.pk).update(**times)
    order.refresh_from_db()
    return order


def now_said(browser, order: Order) -> str:
    """The first words: what to do now and later; asserts that the page and its panel agree."""
    page = detail(browser, order).content.decode()
    panel = browser.get(f"/orders/{order.ref_id}/panel/", headers={"HX-Request": "true"}).content.decode()
    form = r'id="what-now"><strong>(.*?)</strong></p>\s*<p[^>]*>(.*?)</p>'
    said = [re.search(form, shown, re.DOTALL) for shown in (page, panel)]
    if not all(said):
        assert not any(said)
        return ""
    assert page.index('id="what-now"') < page.index(f'id="order-{order.status}"')
    assert said[0].groups() == said[1].groups()
    return html.unescape("\n".join(said[0].groups()))


def filled_acts(page: str) -> list[str]:
    """The acts whose button is filled."""
    return re.findall(r'id="(act-\w+)"[^<]*<input[^>]*>\s*<button class="btn btn-primary"', page)


def test_an_unknown_order_says_first_until_when_to_wait_and_who_decides_then(cashier):
    leader, order = make_person("supervisor", first_name="Rina"), in_doubt_since(20)

    waits, leads = now_said(cashier, order), now_said(signed_in(leader), order)

    until = short_time(order.sent_at + dt.timedelta(minutes=60))
    for said in (waits, leads):
        assert re.findall(r"(?:\d+ \w+(?: \d{4})?, )?\d\d:\d\d", said) == [until]
    assert ("Rina" in waits, "Rina" in leads) == (True, False)
    Policies.objects.update_or_create(only=True, defaults={"order_verdict_after_minutes": 120})
    forget()
    assert short_time(order.sent_at + dt.timedelta(minutes=120)) in now_said(cashier, order)


def test_while_an_unknown_order_waits_its_instruction_is_short():
    leader, seller = make_person("supervisor", first_name="Rina"), make_person("cashier")
    order = in_doubt_since(20)
    for language, kind, person in itertools.product(("en", "id"), Order.Kind, (leader, seller)):
        order.kind = kind
        with translation.override(language):
            said = what_now(order, (), person)
            assert said.waits
            words_said = f"{said.act} {said.then}".replace(short_time(decided_from(order)), "00:00").split()
        assert len(words_said) <= (18 if person is leader else 21), words_said


def test_no_act_is_filled_while_an_unknown_order_waits_and_its_next_poll_stands_in_its_details(admin):
    order = in_doubt_since(20)
    page = detail(admin, order).content.decode()
    assert filled_acts(page) == []
    assert page.index('id="what-now"') < page.index(f'<time datetime="{order.next_poll_at.isoformat("T", "seconds")}"')

    sent_before(order, minutes=90)

    assert filled_acts(detail(admin, order).content.decode()) == ["act-poll"]


def test_an_order_open_for_too_long_says_who_decides_it_now(cashier):
    first, second = make_person("supervisor", first_name="Rina"), make_person("admin", first_name="Adi")
    for status in (Status.UNKNOWN, Status.PENDING):
        order = in_doubt_since(90, status)

        assert "Rina" in now_said(cashier, order), status
        assert now_said(signed_in(first), order).startswith("Decide now"), status
        propose_verdict(order, outcome=Status.FAILED, evidence="their answer", reason="too long", actor=first)
        assert now_said(signed_in(second), order).startswith("Approve or refuse"), status
    assert {now_said(browser, order)[:4] for browser in (cashier, signed_in(first))} == {"Wait"}


def test_what_never_arrived_says_first_to_check_it_and_by_when(cashier, admin):
    order = never_arrived(place())
    sold = timezone.now() - dt.timedelta(minutes=20)
    with past_triggers():
        Order.objects.filter(pk=order.pk).update(created_at=sold)

    decides, waits = now_said(admin, order), now_said(cashier, order)

    assert short_time(sold + dt.timedelta(minutes=30)) in decides
    assert waits.startswith("Do not sell again")
    person = User.objects.get(username="admin")
    actions = allowed_actions(order, person)
    for language in ("en", "id"):
        with translation.override(language):
            said = f"{what_now(order, actions, person).act} {explain(order, actions).step}"
        assert len(said.split()) <= 28, said


@pytest.mark.parametrize("status", [Status.QUEUED, Status.PENDING, Status.SUCCESS, Status.FAILED])
def test_an_order_that_goes_on_or_has_ended_asks_for_nothing_first(cashier, status):
    assert now_said(cashier, make_order(status)) == ""


def test_what_never_arrived_has_its_safest_act_filled_two_steps_and_the_words_of_its_alert(admin):
    order = never_arrived(place())
    answer = detail(admin, order)
    page, said = answer.content.decode(), words(answer)
    panel = admin.get(f"/orders/{order.ref_id}/panel/", headers={"HX-Request": "true"}).content.decode()

    assert codes(answer) == {"may_be_charged", "cannot_be_stopped"}  # no single charge is promised
    assert filled_acts(page) == ["act-poll"]
    ids = ["act-poll", "act-close", "order-more", "send-again-risk", "act-send_again"]
    assert sorted(ids, key=lambda name: page.index(f'id="{name}"')) == ids
    for each in (page, panel):
        shown = re.sub(r"<details.*?</details>", "", each, flags=re.DOTALL)
        assert "act-poll" in shown
        assert not re.findall(r"TRANSACTION_NOT_FOUND|act-send_again|data-may-be-charged|It ended as", shown)
    facts = {"ref_id": order.ref_id, "amount": 10_500, "status": order.status}
    alert = KINDS["order_unknown"].words(facts, User.objects.get(username="admin"))
    assert alert.next_step in said
    assert order.get_action_reason_display() in said
    assert order.get_action_reason_display().lower() in alert.title


def test_an_unknown_order_says_how_often_the_provider_did_not_know_it(cashier):
    happened = set()
    for times, says in [(0, ""), (1, "1 answer said"), (3, "3 answers said")]:
        order = make_order(Status.UNKNOWN, polls=4, not_found_count=times)

        page = detail(cashier, order)

        assert has_id(page, "order-not-found") is bool(says), times
        assert says in words(page), times
        if times != 1:
            happened.add(explain(order, ()).happened)
    assert len(happened) == 2
