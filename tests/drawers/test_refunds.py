"""Refunds due are work of the whole shop until a person notes each one, once."""

import re
from functools import partial

import pytest
from django.contrib.auth.models import Permission
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from audit.models import AuditEvent
from customers.models import Customer, SavedNumber
from drawers.errors import DrawerRefused, TooLittleCash
from drawers.models import DrawerEntry, Payment
from drawers.presenting.sales import outcome_badge
from drawers.services import PaymentFacts, expected_cash, give_back, pay_in, pay_out
from purchases.errors import ActionRefused
from purchases.models import Order
from purchases.services import note_given_back
from staff.models import User
from testing.orders import at_once
from testing.people import browser_of, make_person, signed_in
from tests.core.helpers import cells, words_at
from tests.drawers.helpers import begin, end, sell
from tests.plans import MANY, asked, copy_many, too_wide, weigh

pytestmark = pytest.mark.django_db(transaction=True)


def listed(browser, query: str = "") -> list[str]:
    """The ref_ids on the list."""
    page = browser.get(f"/refunds/{query}").content.decode()
    return [order.ref_id for order in Order.objects.order_by("-pk") if f">{order.ref_id}<" in page]


def shop_with_drawers():
    """A person who sells without a shift, in a shop whose drawers are in use."""
    shift = begin(make_person("supervisor", username="opener"), cash=100_000)
    return shift, make_person("cashier", username="seller")


def test_a_failed_sale_waits_for_the_whole_shop_until_it_is_given_back():
    shift = begin(cash=100_000)
    order = end(sell(shift.cashier, 10_500), "failed")
    SavedNumber.objects.create(
        customer=Customer.objects.create(name="Bu Sari"), destination=order.destination, kind="phone"
    )
    other = browser_of("cashier", username="other")

    assert listed(other) == [order.ref_id]
    page = other.get("/refunds/").content.decode()
    assert "Bu Sari" in page
    other.force_login(shift.cashier)
    typed = {"method": "cash", "shift": shift.pk, "customer": "Nobody of this name"}  # left in the field of the tab
    other.post(f"/drawer/sales/{order.ref_id}/given-back/", typed)

    assert listed(other) == []
    auditor, giver = browser_of("auditor"), shift.cashier_id
    people = giver, User.objects.get(username="other").pk
    of_people = [listed(auditor, f"?state=given&person={person}") for person in people]
    assert of_people == [[order.ref_id], []]
    of_days = [listed(auditor, f"?state=given&person={giver}&given={days}") for days in ("today", "yesterday")]
    assert of_days == [[order.ref_id], []]
    beside = auditor.get(f"/earnings/beside/{giver}/").content.decode()
    assert ">Rp10.500<" in beside.split('data-person="cashier"')[1].split("data-given-back")[1]
    payment = Payment.objects.get()
    assert (payment.amount, payment.given_method, payment.given_by) == (10_500, "cash", shift.cashier)
    assert (payment.refund_entry.amount, payment.refund_entry.shift) == (-10_500, shift)
    event = AuditEvent.objects.get(kind="given_back")
    assert (event.subject, event.person_id, event.facts["amount"]) == (order.ref_id, shift.cashier_id, 10_500)


def test_nobody_gives_money_back_out_of_a_colleagues_drawer():
    """An owner without a drawer is offered the one that took the money."""
    shift = begin(cash=100_000)
    colleague = begin(make_person("cashier", username="another")).cashier
    order = end(sell(shift.cashier, 10_500), "failed")
    before = expected_cash(shift)

    page = browser_of("admin").get(order.get_absolute_url()).content.decode()
    with pytest.raises(DrawerRefused) as refusal:
        give_back(order.payment, method="cash", shift=shift, actor=colleague)

    assert f'<option value="{shift.pk}" selected>' in page
    assert refusal.value.reason == "not_yours"
    assert (expected_cash(shift), Payment.objects.get().given_method) == (before, "")


def test_money_that_is_owed_comes_before_the_next_sale():
    shift = begin(cash=100_000)
    browser = signed_in(shift.cashier)

    def shown(order: Order, part: str) -> str:
        address = f"{order.get_absolute_url()}{part}"
        return browser.get(address, headers={"HX-Request": "true"}).content.decode()

    # given each status on the page or on its panel
    for number, status in enumerate(("failed", "rejected", "cancelled", "closed", "reversed")):
        order, part = end(sell(shift.cashier, 10_500), status), ("", "panel/")[number % 2]
        page = shown(order, part)
        assert page.index('id="sale-owed"') < page.index('id="give-back"') < page.index('class="explained"'), status
        assert page.count('id="give-back"') == 1, status
        assert re.search(r'btn-primary" type="submit">[^<]*Rp10\.500', page.split('id="give-back"')[1]), status
        assert 'class="btn btn-plain" href="/counter/" data-next' in page, status

        browser.post(f"/drawer/sales/{order.ref_id}/given-back/", {"method": "cash", "shift": shift.pk})

        page = shown(order, part)
        assert part or 'id="sale-refund"' in page, status
        assert ['id="sale-owed"' in page, 'id="give-back"' in page] == [False, False], status
        assert 'class="btn btn-primary" href="/counter/" data-next' in page, status


def test_a_seller_who_may_not_give_back_reads_whom_to_ask_and_notes_no_refund():
    order = end(sell(begin().cashier), "reversed")
    make_person("supervisor", username="boss", first_name="Bu Tuti")
    browser = browser_of("seller")
    seller = User.objects.get(username="seller")
    for codenames, part in ((["buy", "view_order"], "panel/"), (["buy", "view_order", "use_drawer"], "")):
        seller.user_permissions.set(Permission.objects.filter(codename__in=codenames))
        answer = browser.get(f"{order.get_absolute_url()}{part}", headers={"HX-Request": "true"})
        owed = words_at(answer, 'id="sale-owed"')
        assert ("Bu Tuti" in owed, "Rp10.500" in owed) == (True, True), part
        assert 'id="give-back"' not in answer.content.decode(), part

    page = browser.get(f"/orders/{order.ref_id}/").content.decode()
    browser.post(f"/orders/{order.ref_id}/given-back/", {"note": "in cash"})
    browser.post(f"/drawer/sales/{order.ref_id}/given-back/", {"method": "transfer"})

    assert ('id="order-sale"' in page, 'id="act-give_back"' in page) == (True, False)
    assert Payment.objects.get().is_owed
    with pytest.raises(ActionRefused):
        note_given_back(order, actor=seller, note="in cash")


def test_a_sale_in_no_drawer_is_given_back_by_transfer_or_in_cash_out_of_one():
    shift, seller = shop_with_drawers()
    order = end(sell(seller, 10_500), "rejected")
    browser = browser_of("cashier")
    assert listed(browser) == [order.ref_id]
    assert 'id="give-back"' in browser.get(order.get_absolute_url()).content.decode()

    browser.post(f"/drawer/sales/{order.ref_id}/given-back/", {"method": "transfer", "note": "BCA"})

    payment = Payment.objects.get()
    assert (payment.given_method, payment.refund_entry, payment.given_note) == ("transfer", None, "BCA")
    assert not DrawerEntry.objects.filter(kind="refund").exists()
    assert 'id="sale-refund"' in browser.get(order.get_absolute_url()).content.decode()

    order = end(sell(seller, 10_500), "failed")
    with pytest.raises(DrawerRefused) as refusal:
        give_back(order.payment, method="cash", actor=seller)
    assert refusal.value.reason == "no_shift"
    payment = give_back(order.payment, method="cash", shift=shift, actor=shift.cashier)
    assert (payment.refund_entry.amount, payment.refund_entry.shift, payment.sold_in) == (-10_500, shift, None)


def test_who_paid_nothing_is_owed_nothing():
    seller = make_person("cashier", username="early")  # before drawers are in use
    end(sell(seller), "failed")
    early = end(sell(seller), "success")
    shift = begin(make_person("supervisor", username="opener"))
    end(sell(None), "failed")  # by a command
    sell(shift.cashier)
    end(sell(shift.cashier), "success")
    reversed_one = end(early, "reversed")

    assert Payment.objects.owed().get().order == reversed_one


def test_a_note_at_the_order_settles_it():
    shift = begin()
    order = end(sell(shift.cashier), "reversed")

    note_given_back(order, actor=shift.cashier, note="Cash from the safe")

    payment = Payment.objects.get()
    assert (payment.given_by, payment.given_note, payment.given_method) == (shift.cashier, "Cash from the safe", "")
    assert listed(browser_of("supervisor")) == []
    event = AuditEvent.objects.get(kind="given_back")
    assert (event.subject, event.person_id, event.facts["amount"]) == (order.ref_id, shift.cashier_id, 10_500)


def test_no_more_cash_goes_back_than_a_drawer_should_hold():
    shift = begin(cash=0)
    order = end(sell(shift.cashier, 10_500), "failed")
    pay_out(shift, amount=10_000, reason="To the safe", actor=shift.cashier)

    with pytest.raises(TooLittleCash, check=lambda refusal: refusal.there == 500):
        give_back(order.payment, method="cash", shift=shift, actor=shift.cashier)

    assert Payment.objects.get().is_owed
    assert not AuditEvent.objects.filter(kind="given_back").exists()
    pay_in(shift, amount=10_000, reason="From the safe", actor=shift.cashier)
    give_back(order.payment, method="cash", shift=shift, actor=shift.cashier)
    assert expected_cash(shift) == 0


def test_two_who_give_back_in_different_ways_give_once():
    shift, seller = shop_with_drawers()
    order = end(sell(seller, 5_000), "reversed")
    by_cash = partial(give_back, order.payment, method="cash", shift=shift, actor=shift.cashier)
    by_transfer = partial(give_back, order.payment, method="transfer", actor=seller)

    results = at_once(by_cash, by_transfer)

    assert [getattr(result, "reason", "") for result in results].count("given_back") == 1, results
    payment = Payment.objects.get()
    assert payment.is_given
    assert DrawerEntry.objects.filter(kind="refund").count() == (payment.given_method == "cash")


def test_the_database_keeps_what_was_given():
    shift = begin()
    order = end(sell(shift.cashier), "failed")
    give_back(order.payment, method="cash", shift=shift, actor=shift.cashier)

    for change in ("SET amount = 1", "SET given_at = NULL", "SET given_method = 'qris'", "SET outcome = 'owed'"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE drawers_payment {change}")
    with pytest.raises(DatabaseError):
        Payment.objects.all().delete()
    other = Payment.objects.filter(pk=end(sell(shift.cashier), "failed").payment_id)
    with pytest.raises(DatabaseError):
        other.update(outcome="given", given_method="cash", given_at=shift.opened_at, given_by=shift.cashier)
    assert other.update(ended_in=shift) == 1


def test_the_text_for_the_customer_names_shop_amount_and_number():
    shift = begin()
    order = end(sell(shift.cashier, 10_500, destination="081234567890"), "failed")
    browser = browser_of("supervisor")

    page = browser.get(order.get_absolute_url()).content.decode()

    text = page.split('id="refund-text"')[1].split(">", 1)[1].split("</textarea>")[0]
    assert "Rp10.500" in text
    assert order.ref_id in text
    assert 'href="https://wa.me/6281234567890?text=' in page.split('id="refund-message"')[1]
    assert 'id="refund-message"' not in browser_of("auditor").get(order.get_absolute_url()).content.decode()


def test_the_list_searches_and_stays_flat():
    shift = begin(cash=100_000)
    order = end(sell(shift.cashier, destination="081234567890"), "failed")
    old = end(sell(shift.cashier), "failed")
    give_back(old.payment, method="cash", shift=shift, actor=shift.cashier)
    long_ago = "o.{0} - interval '30 days' - n * interval '1 minute'"
    names = {"ref_id": "'OLD' || n", "idempotency_key": "'OLD' || n"}
    given = {"id": "1000000 + n", "ref_id": "'OLD' || n", "refund_entry_id": "NULL", "given_method": "'qris'"}
    copy_many("drawers_payment", old.payment, ended_at=long_ago.format("ended_at"), **given)
    names["payment_id"] = "1000000 + n"
    copy_many("purchases_order", old, id="1000000 + n", final_at=long_ago.format("final_at"), **names)
    weigh()
    browser = browser_of("admin")
    for query in ("", "?state=given", "?state=all", "?q=081234567890", f"?q={order.ref_id}"):
        browser.get(f"/refunds/{query}")
        with CaptureQueriesContext(connection) as queries:
            page = browser.get(f"/refunds/{query}")
        assert (order.ref_id in page.content.decode()) == (query != "?state=given")
        assert len(queries) <= 10
        assert list(too_wide(asked(queries.captured_queries), {"purchases_order", "drawers_payment"})) == []
    assert Payment.objects.count() > MANY


def test_cash_goes_back_from_the_list_out_of_the_own_open_drawer():
    shift = begin(cash=100_000)
    in_cash, by_qris = (
        end(sell(shift.cashier, 10_500, payment=PaymentFacts(method=method)), "failed") for method in ("cash", "qris")
    )
    browser = browser_of("cashier", username="without a drawer")
    assert "data-give-back" not in browser.get("/refunds/").content.decode()
    browser.force_login(shift.cashier)

    page = browser.get("/refunds/").content.decode()
    assert re.findall(r'data-give-back>.*?action="([^"]+)"', page, re.DOTALL) == [
        f"/drawer/sales/{in_cash.ref_id}/given-back/"
    ]
    assert f'href="/orders/{by_qris.ref_id}/#order-sale"' in page
    fields = {"method": "cash", "shift": shift.pk, "to": "refunds"}
    for _ in range(2):  # pressed twice
        answer = browser.post(f"/drawer/sales/{in_cash.ref_id}/given-back/", fields)
        assert answer["Location"] == "/refunds/"

    assert listed(browser) == [by_qris.ref_id]
    assert DrawerEntry.objects.get(kind="refund").amount == -10_500
    assert "data-give-back" not in browser_of("auditor").get("/refunds/").content.decode()


def test_the_list_says_how_the_customer_of_a_refund_due_paid():
    shift = begin()
    end(sell(shift.cashier, payment=PaymentFacts(method="qris")), "failed")

    assert "QRIS" in cells(browser_of("auditor").get("/refunds/"), "how")[0]
    assert "Refund due<" in outcome_badge(Payment.objects.get())
