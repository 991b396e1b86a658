"""One order's page: its words, and its live updates."""

import datetime as dt
import itertools
import re

import pytest
from django.utils import timezone, translation

from catalogue.models.products import Availability
from gateway import line
from gateway.line import Work
from purchases.models import Order, OrderEvent
from purchases.presenting import event_words
from purchases.services import approve_verdict, propose_verdict
from purchases.services.sending import claim
from purchases.services.sweeping import SUBMIT
from purchases.states import FINAL, ActionReason, Status
from staff.models import User
from testing.factories import make_biller, make_order, make_product
from testing.orders import answer, never_arrived, place, report, sent, sent_before
from testing.people import browser_of, make_person, signed_in
from tests.core.helpers import codes, has_id, next_question, words, words_at
from tests.purchases.helpers import detail, offered
from upstream.error_codes import meaning_of

pytestmark = pytest.mark.django_db


# --- what it says ---------------------------------------------------------------------------------------------


def test_a_success_shows_its_sn_to_copy_and_the_next_customer(cashier):
    order = make_order(Status.SUCCESS, sn="5985080747136515", price=10_450, trx_id="TRX-1", message="It went well.")

    page = detail(cashier, order)

    assert 'data-copy="5985080747136515"' in page.content.decode()
    assert "data-next" in page.content.decode()
    assert {"Rp10.450", "TRX-1"} <= set(words(page).split())
    assert "It went well." not in words(page)


def test_what_ended_for_nothing_shows_no_profit(admin):
    for status, is_earned in [(Status.SUCCESS, True), (Status.PENDING, True), (Status.FAILED, False)]:
        order = make_order(status, max_price=20_275, price=20_275, selling_price=21_000)

        page = detail(admin, order)
        beside = admin.get(f"/orders/{order.ref_id}/panel/", headers={"HX-Request": "true"})

        told = ["+Rp725" in words(shown) for shown in (page, beside)]
        assert [has_id(page, "profit"), *told] == [is_earned] * 3, status


def test_cost_and_profit_of_an_order_without_an_outcome_are_said_to_be_expected(admin):
    for status, says in [(Status.UNKNOWN, True), (Status.SUCCESS, False)]:
        page = words(detail(admin, make_order(status)))

        assert ("Profit, if it arrives" in page, "Cost, if it arrives" in page) == (says, says), status


def test_an_electricity_token_is_grouped_and_copied_alone(cashier):
    product = make_product(name="Token PLN 20.000", category="token-pln", brand="pln")
    order = make_order(
        Status.SUCCESS, product=product, destination="12345678901", sn="2788-0111-7956-9150-3095/BUDI/R1/900VA/13.6"
    )

    page = detail(cashier, order)

    assert "2788 0111 7956 9150 3095" in words(page)
    assert "BUDI · R1 · 900VA · 13.6" in words(page)
    assert 'data-copy="27880111795691503095"' in page.content.decode()
    assert "1234 5678 901" in words(page)


def test_an_order_behind_a_batch_says_how_long_it_waits(cashier, settings):
    settings.UPSTREAM_ACCOUNT_RATE = "120/minute"
    for ahead, says in ((2, None), (20, "20 seconds"), (240, "4 minutes")):
        order = make_order(Status.QUEUED)
        while line.take_first():
            pass
        for number in range(ahead):
            line.join(Work(SUBMIT, -number), person_id=1)
        line.join(Work(SUBMIT, order.pk), person_id=1)

        page = detail(cashier, order)

        assert has_id(page, "order-wait") is (says is not None), ahead
        assert (says or "") in words(page)


def test_an_unknown_outcome_is_nowhere_called_failed_and_its_code_is_said_in_words(cashier):
    order = make_order(Status.UNKNOWN, polls=3)

    page = detail(cashier, order)

    assert has_id(page, "order-unknown")
    assert "data-may-be-charged" in page.content.decode()
    assert "ailed" not in words(page)
    assert offered(page) == {"poll"}

    order = sent()
    answer(order, Status.UNKNOWN, facts={"code": "no_answer", "reason": "unknown_code: WEIRD"})
    shown = words(detail(cashier, order))
    assert ("WEIRD" in shown, "unknown_code" in shown) == (True, False)


def test_a_queued_order_says_whether_it_may_be_charged(admin):
    for in_doubt in (False, True):
        page = detail(admin, make_order(Status.QUEUED, sent_no=1 if in_doubt else None))

        assert ("data-may-be-charged" in page.content.decode()) is in_doubt
        assert ("not_charged" in codes(page)) is not in_doubt
        assert ("cancel" in offered(page)) is not in_doubt


def test_next_customer_is_the_main_act_only_after_ones_own_sale(admin):
    person, now = make_person("cashier", username="seller"), timezone.now()
    said = {}
    for name, browser, minutes in [
        ("own", signed_in(person), 1),
        ("later", signed_in(person), 60),
        ("other", admin, 1),
    ]:
        order = make_order(Status.SUCCESS, placed_by=person, created_at=now - dt.timedelta(minutes=minutes))
        said[name] = 'class="btn btn-primary" href="/counter/" data-next' in detail(browser, order).content.decode()

    assert said == {"own": True, "later": False, "other": False}


def test_a_timeline_names_people_and_quotes_the_provider(cashier):
    order = make_order(Status.PENDING, placed_by=make_person("cashier", username="k1", first_name="Sari"))
    OrderEvent.objects.create(order=order, to_status=Status.QUEUED, source="staff", actor=order.placed_by)
    OrderEvent.objects.create(
        order=order, from_status=Status.SENDING, to_status=Status.PENDING, source="submit", note="Being processed"
    )

    said = words(detail(cashier, order))

    assert "“Being processed”" in said
    assert str(OrderEvent.Source.SUBMIT.label) in said
    assert "Staff: Sari" in said
    assert "by Sari" in said


def test_what_ended_without_success_says_why_and_whether_it_is_refunded(cashier):
    page = detail(cashier, make_order(Status.CLOSED))
    assert has_id(page, "order-closed")
    assert codes(page) == {"not_refunded", "give_back"}

    page = detail(cashier, make_order(Status.REJECTED, error_code="INVALID_DESTINATION"))
    assert str(meaning_of("INVALID_DESTINATION").words) in words(page)
    assert codes(page) == {"not_charged"}

    order = make_order(Status.FAILED, message="<img src=x onerror=alert(1)>")
    assert "<img" not in detail(cashier, order).content.decode()
    for address in ("/orders/NOPE/", "/orders/NOPE/live/"):
        assert cashier.get(address).status_code == 404, address


def test_what_two_people_decided_is_not_called_a_report(cashier):
    first, second = (User.objects.create_superuser(name) for name in ("first", "second"))
    success = {"decided_success", "cannot_be_stopped"}
    for accepted, status, said in (
        (True, Status.FAILED, {"decided_charged"}),
        (False, Status.FAILED, {"decided_not_charged"}),
        (True, Status.SUCCESS, success),
        (False, Status.SUCCESS, success),
    ):
        order = sent()
        if accepted:
            report(order, "pending")
        else:
            answer(order, Status.UNKNOWN)
        sent_before(order, days=1)
        verdict = propose_verdict(order, outcome=status, evidence="their dashboard", reason="too long", actor=first)
        approve_verdict(verdict, actor=second)

        page = detail(cashier, order)

        assert codes(page) == said, (accepted, status)
        assert not has_id(page, "upstream-says"), (accepted, status)


def test_a_bill_payment_in_doubt_is_not_to_be_paid_again(cashier):
    for status, hours in itertools.product((Status.UNKNOWN, Status.PENDING), (0, 24)):
        bill = make_order(status, product=make_biller(), kind=Order.Kind.BILL, max_price=50_000)

        said = codes(detail(cashier, sent_before(bill, hours=hours)))

        assert ("do_not_pay_again" in said, "do_not_buy_again" in said) == (True, False), (status, hours)


def test_a_success_without_an_incident_has_no_heading_about_its_reversal():
    order = make_order(Status.SUCCESS)
    browser = browser_of("administrator")

    panel = browser.get(order.get_absolute_url()).content.decode().split('id="verdict"')[1].split("</section>")[0]

    assert "<h2" not in panel
    assert '<details class="with-note" id="act-propose_verdict">' in panel


def test_the_page_asks_exactly_while_the_order_is_open_and_then_sells_it_again_by_one_link(cashier):
    for status in sorted(Status):
        order = make_order(status)
        page = detail(cashier, order)

        assert (next_question(page) is None) == (status in FINAL), status
        assert ('http-equiv="refresh"' in page.content.decode()) == (status not in FINAL), status
        if status in FINAL:
            assert has_id(page, "order-again"), status
            assert f"/counter/?product={order.product_code}" not in page.content.decode(), status


def test_a_later_confirmed_price_keeps_first_price_and_sending(admin):
    product = make_product(price=10_500)
    order = place(product)
    claim(order.pk)
    answer(order, Status.NEEDS_ACTION, action_reason=ActionReason.PRICE_CHANGED, error_code="PRICE_CHANGED")
    product.price = 11_000
    product.save()

    admin.post(f"/orders/{order.ref_id}/again/", {"price": "11000"})
    claim(order.pk)

    page = detail(admin, order)
    assert has_id(page, "first-price")
    assert "Rp10.500 → Rp11.000" in words(page)
    sent = [f"{event.at:%H:%M:%S}" for event in order.events.filter(to_status=Status.SENDING)]
    assert len(sent) == 2
    assert page.content.decode().count("data-sent") == 2


def test_what_was_tried_and_never_left_us_is_not_called_sent(cashier):
    order = place()
    for _try in range(3):
        claim(order.pk)
        answer(order, Status.QUEUED, facts={"code": "not_sent", "reason": "permit_expired"})
    claim(order.pk)

    page = detail(cashier, order).content.decode()

    assert re.findall(r'data-tried="(\d)"', page) == ["3"]
    assert page.count("data-sent") == 1
    assert "Tried, not sent" in page
    assert "Sent again" not in page


def test_our_words_in_the_timeline_are_in_the_persons_language(admin):
    order = never_arrived(place())

    event = order.events.get(facts__code="not_found")
    sentences = {}
    for language in ("en", "id"):
        with translation.override(language):
            sentences[language] = event_words(event)

    assert sentences["en"] != sentences["id"]
    for language, sentence in sentences.items():
        admin.cookies["django_language"] = language
        page = words(detail(admin, order))
        assert sentence in page
        assert "UTC" not in page
        assert re.search(r"\b3\b.*\b22 Nov 2026\b", sentence)


def test_of_an_unavailable_product_the_page_says_the_reason_once_and_how_it_is_now(admin):
    code, message = "PRODUCT_UNAVAILABLE", "Gangguan."
    facts = {"action_reason": ActionReason.UNAVAILABLE, "error_code": code, "message": message, "sent_no": 1}
    order = make_order(Status.NEEDS_ACTION, polls=1, **facts)
    assert order.may_be_charged

    page = detail(admin, order).content.decode()

    shown, _more, folded = page.partition('id="order-more"')
    for said in (code, message):
        assert (said in shown, said in folded.partition("</details>")[0]) == (False, True), said
    assert not re.search(r'<p class="quiet">\s*</p>', page)  # no empty line about its poll
    for availability in Availability:
        order = make_order(Status.NEEDS_ACTION, product=make_product(availability=availability), **facts)
        assert str(availability.label) in words_at(detail(admin, order), 'id="in-catalogue"')


# --- how it follows the order ---------------------------------------------------------------------------------


def test_the_live_part_comes_only_with_news_and_stops_when_final(cashier):
    order = make_order(Status.PENDING)
    ask, _delay = next_question(detail(cashier, order))

    same = cashier.get(ask)
    assert not has_id(same, "order-live")

    report(order, sn="SN-77")
    changed = cashier.get(next_question(same)[0])
    assert has_id(changed, "order-live")
    assert "SN-77" in changed.content.decode()
    assert next_question(changed) is None
