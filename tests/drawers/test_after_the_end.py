"""After an order has ended without success, its way to pay stays, and a note alone does not settle a debt."""

import re

import pytest

from credit.models import CreditEntry
from drawers.models import DrawerEntry, Payment
from drawers.services import expected_cash, give_back
from staff.models import User
from tests.core.helpers import words
from tests.credit.helpers import give_credit, owed_by, sell_to
from tests.drawers.helpers import end, message_codes, sell

pytestmark = pytest.mark.django_db(transaction=True)


def test_how_it_was_paid_stays_once_the_money_went_back(counter):
    browser, shift = counter
    customer = give_credit()
    in_cash, on_credit = sell(shift.cashier, 20_000), sell_to(customer, 10_000, by=shift.cashier)
    for order, method in ((in_cash, "cash"), (on_credit, "credit")):
        end(order, "failed")
        give_back(order.payment, shift=shift, method=method, actor=shift.cashier)

    page = browser.get(in_cash.get_absolute_url()).content.decode()
    answers = [
        browser.post(f"/drawer/sales/{order.ref_id}/paid/", {"method": method}, follow=True)
        for order, method in ((in_cash, "qris"), (on_credit, "cash"))
    ]

    assert 'id="change-payment"' not in page
    assert [message_codes(answer) for answer in answers] == [["DrawerRefused:given_back"]] * 2
    assert (owed_by(customer), expected_cash(shift)) == (0, 100_000)
    payment = Payment.objects.get(ref_id=in_cash.ref_id)
    assert (payment.method, payment.amount, payment.outcome) == ("cash", 20_000, "given")
    refunds = DrawerEntry.objects.filter(kind="refund").order_by("pk").values_list("method", "amount")
    assert list(refunds) == [("cash", -20_000), ("credit", -10_000)]


def test_how_a_failed_order_was_paid_stays_while_it_is_owed(counter):
    browser, shift = counter
    statuses = ("failed", "rejected", "cancelled", "closed", "reversed")
    for status in statuses:
        order = end(sell(shift.cashier, 20_000), status)
        answer = browser.post(f"/drawer/sales/{order.ref_id}/paid/", {"method": "qris"}, follow=True)
        assert message_codes(answer) == ["DrawerRefused:ended"], status
    assert expected_cash(shift) == 100_000 + 20_000 * len(statuses)


def test_one_press_says_what_changed_and_one_takes_it_back(counter):
    # given a sale that was paid in cash, whose page has one button that saves the chosen way to pay
    browser, shift = counter
    User.objects.filter(pk=shift.cashier_id).update(language="en")
    order = sell(shift.cashier, 20_000)
    end(order, "success")
    address = f"/drawer/sales/{order.ref_id}/paid/"
    page = browser.get(order.get_absolute_url()).content.decode()
    form = page.partition('id="correct-payment"')[2].partition("</form>")[0]
    assert re.findall(r"<button [^>]*>", form) == ['<button class="btn btn-primary" type="submit">']
    assert not re.findall(r'<button [^>]*name="method"', page)

    # when one press changes the way to pay
    page = browser.post(address, {"method": "transfer"}, follow=True)

    # then the page names the former way, with a button of the page's form that restores it
    assert "Paid by transfer (was cash)." in words(page)
    text = page.content.decode()
    (undo,) = re.findall(r'<button [^>]*form="(undo-payment)" name="method" value="(\w+)"', text)
    assert undo == ("undo-payment", "cash")
    assert re.search(rf'action="{address}"[^>]*id="undo-payment"', text)
    assert expected_cash(shift) == 100_000
    back = browser.post(address, {"method": undo[1]}, follow=True)
    assert "Paid by cash (was transfer)." in words(back)
    assert expected_cash(shift) == 120_000
    payment = Payment.objects.get()
    assert (payment.method, payment.amount, payment.outcome) == ("cash", 20_000, "kept")

    # then what was typed for another way to pay is not read
    typed = {"cash_given": "nonsense", "customer": "nobody", "reference": "A-1"}
    assert message_codes(browser.post(address, {"method": "qris", **typed}, follow=True)) == ["payment_noted"]
    payment = Payment.objects.get()
    assert (payment.method, payment.cash_given, payment.reference, payment.debt) == ("qris", None, "", None)
    assert expected_cash(shift) == 100_000


def test_what_one_press_cannot_bring_back_is_not_offered_to_it(counter):
    browser, shift = counter
    User.objects.filter(pk=shift.cashier_id).update(language="en")
    customer = give_credit()
    order = sell(shift.cashier, 20_000)
    end(order, "success")
    address = f"/drawer/sales/{order.ref_id}/paid/"

    browser.post(address, {"method": "cash", "cash_given": "50.000"})
    given = browser.post(address, {"method": "qris"}, follow=True)
    slip = browser.post(address, {"method": "card", "reference": "A-1"}, follow=True)
    owed = browser.post(address, {"method": "credit", "customer": customer.name}, follow=True)
    paid = browser.post(address, {"method": "cash"}, follow=True)

    assert "Paid by QRIS (was cash). To take it back" in words(given)
    assert "Paid by card (EDC) (was QRIS)." in words(slip)
    assert "Now on credit (was card (EDC)). To take it back" in words(owed)
    assert "Paid by cash (was on credit). To take it back" in words(paid)
    assert ["btn-undo" in page.content.decode() for page in (given, slip, owed, paid)] == [False, True, False, False]
    assert (owed_by(customer), expected_cash(shift)) == (0, 120_000)


def test_a_note_on_the_order_leaves_no_debt_behind(counter):
    browser, shift = counter
    customer = give_credit()
    order = end(sell_to(customer, 10_000, by=shift.cashier), "reversed")

    answer = browser.post(f"/orders/{order.ref_id}/given-back/", {"note": "The debt is cancelled"}, follow=True)
    assert message_codes(answer) == ["CreditRefused:still_owed"]
    assert (Payment.objects.get().outcome, owed_by(customer)) == ("owed", 10_000)
    browser.post(f"/drawer/sales/{order.ref_id}/given-back/", {"method": "credit", "shift": shift.pk})

    assert (Payment.objects.get().outcome, owed_by(customer)) == ("given", 0)
    assert list(CreditEntry.objects.order_by("pk").values_list("kind", "amount")) == [
        ("sale", 10_000),
        ("refund", -10_000),
    ]
    assert (Payment.objects.get().given_method, expected_cash(shift)) == ("credit", 100_000)


def test_the_way_back_names_its_order_on_the_page_of_another(counter):
    # given two sales that were paid in cash
    browser, shift = counter
    order, other = (sell(shift.cashier, 20_000) for _ in range(2))
    end(order, "success")
    end(other, "success")
    address = f"/drawer/sales/{order.ref_id}/paid/"

    # when another tab opens the second sale before the answer to a press for the first one is there
    browser.post(address, {"method": "transfer"})
    page = browser.get(other.get_absolute_url()).content.decode()

    # then the button that takes it back belongs to the first sale
    (button,) = re.findall(r'<button class="btn-undo"[^>]*>', page)
    assert f'formaction="{address}"' in button
