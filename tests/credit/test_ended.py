"""A sale on credit whose order ended without success: no text promises money that the customer never paid."""

import html
import re

import pytest
from django.db import transaction
from django.utils import timezone

from credit.models import CreditEntry
from customers.services import erase
from drawers.services import close_shift, expected_cash, give_back, take_credit_payment, totals_of
from earnings.services.journal import journal_of
from purchases.services.resolving import requeue
from testing.database import undone
from testing.orders import never_arrived
from testing.people import browser_of, make_person
from tests.credit.helpers import account_of, give_credit, owed_by, page_of, refused, sell_to
from tests.customers.helpers import make_customer
from tests.drawers.helpers import begin, end, pieces_of, sell

pytestmark = pytest.mark.django_db(transaction=True)

NUMBER = "081234567890"
# The promise that only a customer who has paid gets.
MONEY = re.compile(r"You get your|transfer|given you|Uang Anda")


def text_of(page, name="refund"):
    return html.unescape(page.split(f'id="{name}-text"')[1].split(">", 1)[1].split("</textarea>")[0])


def part_of(page, name):
    """The page from the element with this id on."""
    return page.split(f'id="{name}"', 1)[1]


def ended(shift, *, paid=0, other=0, status="failed"):
    """A customer, and a sale of 10.000 on credit that ended in `status`; `paid`: of the debt; `other`: another debt."""
    customer = give_credit()
    order = sell_to(customer, 10_000, by=shift.cashier, destination=NUMBER)
    if other:
        sell_to(customer, other, by=shift.cashier, destination="081234567891")
    if paid:
        take_credit_payment(account_of(customer), amount=paid, method="qris", actor=shift.cashier)
    return customer, end(order, status)


def browser_as(person, language):
    browser = browser_of("supervisor", username=f"{language}-speaker", language=language)
    browser.force_login(person)
    person.language = language
    person.save(update_fields=["language"])
    return browser


@pytest.mark.parametrize(
    ("paid", "other", "code", "status", "language"),
    [
        (0, 0, "less", "reversed", "en"),
        (4_000, 20_000, "less", "failed", "id"),
        (4_000, 0, "part", "closed", "en"),
        (4_000, 0, "part", "closed", "id"),
    ],
)
def test_an_unpaid_sale_comes_off_the_account_and_no_money_is_promised(paid, other, code, status, language):
    shift = begin(cash=100_000)
    customer, order = ended(shift, paid=paid, other=other, status=status)
    browser = browser_as(shift.cashier, language)
    before, named = owed_by(customer), ["Rp10.000", *(["Rp4.000"] if code == "part" else [])]

    # given
    page = page_of(browser, order.get_absolute_url())
    assert f'id="sale-owed" data-code="{code}"' in page
    assert f'data-paid="{paid}"' in page
    explained = page.split('class="explained"')[1].split("</div>")[0]
    assert ('data-code="off_account"' in explained) == (status != "failed")
    assert 'data-code="give_back"' not in explained
    assert "Rp" not in explained
    form = part_of(page, "give-back").split("</form>")[0]
    assert re.search(r'type="hidden" name="method" value="credit"', form), form
    assert 'name="customer"' not in form
    assert "<select" not in form
    text = text_of(page)
    arrived = page_of(browser, f"/arrived/?q={order.ref_id}")
    for shown in (text, html.unescape(re.search(r'id="answer-copy" data-copy="([^"]*)"', arrived)[1])):
        assert not MONEY.search(shown), shown
        assert [amount for amount in named if amount not in shown] == [], shown
    assert "data-on-credit" in page_of(browser, "/refunds/")

    # when: cash is sent by hand, then the form is sent as it is
    address = f"/drawer/sales/{order.ref_id}/given-back/"
    browser.post(address, {"method": "cash", "shift": shift.pk})
    assert owed_by(customer) == before
    browser.post(address, {"method": "credit", "shift": shift.pk})

    # then
    page = page_of(browser, order.get_absolute_url())
    assert f'id="sale-refund" data-code="{code}"' in page
    assert 'id="give-back"' not in page
    assert 'data-code="give_back"' not in page
    assert not MONEY.search(text_of(page)), text_of(page)
    arrived = page_of(browser, f"/arrived/?q={order.ref_id}").split("</main>")[0]
    assert not MONEY.search(html.unescape(arrived)), arrived
    assert (owed_by(customer), expected_cash(shift)) == (before - 10_000, 100_000)
    assert not CreditEntry.objects.filter(kind="paid_back").exists()


def test_what_was_paid_wholly_goes_back_in_money_or_is_kept():
    shift = begin(cash=100_000)
    customer, order = ended(shift, paid=10_000)
    browser = browser_as(shift.cashier, "en")

    page = page_of(browser, order.get_absolute_url())

    assert 'id="sale-owed" data-code="money"' in page
    assert MONEY.search(text_of(page))
    form = part_of(page, "give-back").split("</form>")[0]
    assert re.findall(r'<option value="(cash|credit)"', form) == ["cash", "credit"]
    assert re.search(r'<option value="credit" selected', form)
    browser.post(f"/drawer/sales/{order.ref_id}/given-back/", {"method": "credit"})
    page = page_of(browser, order.get_absolute_url())
    assert 'id="sale-refund" data-code="kept"' in page
    assert not MONEY.search(text_of(page)), text_of(page)
    assert owed_by(customer) == -10_000

    # when: the payment is undone after that, the shop owes nothing, and the page says nothing else
    payment = CreditEntry.objects.get(kind="payment")
    answer = browser.post(f"/credit/payments/{payment.pk}/undo/", {"reason": "typed wrongly"}, follow=True)

    event = re.search(r'data-code="credit_undone".*?</', answer.content.decode(), re.DOTALL)
    assert owed_by(customer) == 0
    assert event
    assert "Rp" not in event[0]
    assert "owed again" not in event[0]


def test_another_customer_is_refused_by_name():
    shift = begin(cash=100_000)
    customer, order = ended(shift)
    other = give_credit("Pak Budi")
    browser = browser_as(shift.cashier, "en")

    facts = {"method": "credit", "customer": "Pak Budi", "shift": shift.pk}
    answer = browser.post(f"/drawer/sales/{order.ref_id}/given-back/", facts, follow=True)

    assert re.search(r'data-code="OtherAccount".*?Bu Sri', answer.content.decode(), re.DOTALL)
    assert (owed_by(customer), owed_by(other)) == (10_000, 0)
    assert CreditEntry.objects.count() == 1


REMINDED = [(0, 0, ""), (0, 20_000, "Rp20.000"), (12_000, 20_000, "Rp8.000"), (22_000, 20_000, ""), (10_000, 0, "")]


def test_no_reminder_asks_for_what_did_not_go_through():
    """A payment beyond the first debt pays the next; without the failed sale of 10.000 it pays only the other debt."""
    shift = begin(cash=100_000)
    browser, auditor = browser_as(shift.cashier, "en"), browser_of("auditor")
    for paid, other, reminded in REMINDED:
        with undone():
            customer, order = ended(shift, paid=paid, other=other)

            page = page_of(browser, f"/customers/{customer.pk}/credit/")

            assert f'href="{order.get_absolute_url()}#order-sale"' in page
            assert page.count("data-unfulfilled") == (2 if paid < 10_000 else 1), (paid, other)
            assert ('id="credit-reminder"' in page) == bool(reminded), (paid, other)
            if reminded:
                assert re.findall(r"Rp[\d.]+", text_of(page, "reminder")) == [reminded]

            # then: the list and its file say how much of the debt nobody should ask for
            owed = owed_by(customer)
            not_to_ask = owed - int(reminded.removeprefix("Rp").replace(".", "") or 0)
            assert f'id="to-take-off" data-amount="{not_to_ask if owed else 10_000}"' in page
            listed = page_of(auditor, "/credit/")
            assert re.findall(r'data-not-to-ask="(\d+)"', listed) == ([str(not_to_ask)] if owed else [])
            assert ('id="not-to-ask-note"' in listed) == bool(owed), (paid, other)
            lines = b"".join(auditor.get("/credit/csv/").streaming_content).decode().splitlines()[1:]
            assert [line.rsplit(",", 1)[1] for line in lines] == ([str(not_to_ask)] if owed else [])


def test_a_sale_in_cash_kept_on_an_account_is_said_so():
    shift = begin(cash=100_000)
    order = end(sell(shift.cashier, 7_000), "failed")
    customer, browser = give_credit(), browser_as(shift.cashier, "en")
    make_customer("Pak Budi")

    page = page_of(browser, order.get_absolute_url())
    assert 'id="sale-owed" data-code="money"' in page
    assert 'name="customer"' in part_of(page, "give-back").split("</form>")[0]
    browser.post(f"/drawer/sales/{order.ref_id}/given-back/", {"method": "credit", "customer": "Bu Sri"})

    page = page_of(browser, order.get_absolute_url())
    assert 'id="sale-refund" data-code="kept"' in page
    assert not MONEY.search(text_of(page))
    assert owed_by(customer) == -7_000


def test_the_debt_of_a_deleted_customer_goes_back_in_money_only():
    shift = begin(cash=100_000)
    customer, order = ended(shift, paid=10_000, status="reversed")
    with transaction.atomic():
        customer.delete()
    browser = browser_as(shift.cashier, "en")
    form = part_of(page_of(browser, order.get_absolute_url()), "give-back").split("</form>")[0]
    assert re.findall(r'<option value="(cash|credit)"', form) == ["cash"]

    address = f"/drawer/sales/{order.ref_id}/given-back/"
    refused = browser.post(address, {"method": "credit", "shift": shift.pk}, follow=True).content.decode()
    assert 'data-code="CreditRefused:nobodys"' in refused
    browser.post(address, {"method": "cash", "shift": shift.pk})

    assert 'id="sale-refund"' in page_of(browser, order.get_absolute_url())
    assert expected_cash(shift) == 90_000
    assert list(CreditEntry.objects.order_by("pk").values_list("kind", flat=True)) == ["sale", "payment"]


def risen_after_the_closing():
    """A paid sale of 10.000 on credit whose price rose to 12.000 after its shift, and the seller's next shift."""
    first, customer = begin(cash=100_000), give_credit()
    order = never_arrived(sell_to(customer, 10_000, by=first.cashier))
    close_shift(first, pieces=pieces_of(100_000), actor=first.cashier)
    with transaction.atomic():
        requeue(order, max_price=12_000, actor=first.cashier, enqueue=False)
    order.refresh_from_db()
    shift = begin(first.cashier, drawer=first.drawer, cash=100_000)
    take_credit_payment(account_of(customer), amount=12_000, method="cash", actor=shift.cashier)
    return order, shift, customer


def test_a_price_that_rose_after_the_closing_goes_back_as_it_was_paid():
    order, shift, customer = risen_after_the_closing()
    with undone():  # if it arrives, it counts in the shift where it arrived
        end(order, "success")
        totals = totals_of([shift.pk], with_cost=True)[shift.pk]
        assert (totals.arrived, totals.cost, totals.profit) == (12_000, 12_000, 0)
    payment = end(order, "failed").payment
    page = page_of(browser_of("admin"), "/refunds/")
    assert (payment.amount, payment.to_give_back) == (10_000, 12_000)
    assert "12.000" in page
    assert "10.000" not in page.split("<tbody", 1)[1].split("</tbody>")[0].replace(order.product_name, "")

    give_back(payment, method="cash", actor=shift.cashier, shift=shift)

    assert (expected_cash(shift), owed_by(customer)) == (100_000, 0)
    booked = journal_of(timezone.localdate())
    owed = [booking.amount for booking in booked if booking.debit == "owed"]
    assert sum(owed) == sum(booking.amount for booking in booked if booking.credit == "owed") == 12_000


def test_a_price_does_not_rise_on_the_account_of_a_deleted_customer():
    shift, customer = begin(), give_credit()
    order = never_arrived(sell_to(customer, 10_000, by=shift.cashier))
    take_credit_payment(account_of(customer), amount=10_000, method="cash", actor=shift.cashier)
    erase(customer.pk, actor=shift.cashier)

    with refused("account_gone"), transaction.atomic():
        requeue(order, max_price=12_000, actor=shift.cashier, enqueue=False)


def test_without_sales_that_ended_the_list_has_no_column_for_them():
    sell_to(give_credit(), by=make_person("cashier"))

    listed = page_of(browser_of("auditor"), "/credit/")

    assert 'class="c-owed' in listed
    assert "c-not_asked" not in listed
