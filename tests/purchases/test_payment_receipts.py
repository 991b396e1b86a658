"""The receipt for a payment of a debt: paper and text as for an order, for people who may take the payment."""

import pytest

from credit.models import CreditEntry
from credit.services import record_payment, undo_payment
from customers.models import SavedNumber
from staff.models import User
from testing.people import browser_of, make_person
from tests.core.helpers import has_id
from tests.credit.helpers import account_of, give_credit, owed_by, sell_to
from tests.purchases.printing import cashier_at_a_till, job_of, words_of
from tests.shop.helpers import message_of, papers_of, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def paid():
    """A payment by card of Rp20.000 of a debt of Rp50.000."""
    customer, seller = give_credit("Bu Sri"), make_person("cashier", username="seller")
    SavedNumber.objects.create(customer=customer, destination="081234567890", kind="phone")
    sell_to(customer, 50_000, by=seller)
    return record_payment(account_of(customer), amount=20_000, method="card", reason="EDC 4711", actor=seller)


def address_of(entry: CreditEntry) -> str:
    return f"/credit/payments/{entry.pk}/receipt/"


def test_paper_and_text_say_what_was_paid_and_what_is_still_owed(cashier, settings, paid):
    settings.SHOP_NAME = "Toko Uji"
    for paper in ("58", "80", "a5"):
        page = cashier.get(address_of(paid), {"paper": paper})

        [printed] = papers_of(page)
        for fact in ("Toko Uji", "Bu Sri", "Rp50.000", "Rp20.000", "Rp30.000", "EDC 4711", str(paid.pk)):
            assert fact in printed, (paper, fact)
        assert f"struk-{paper}" in printed
        text = message_of(page)
        for fact in ("Toko Uji", "Bu Sri", "Rp20.000", "Rp30.000", "EDC 4711", str(paid.pk)):
            assert fact in text, (paper, fact)
        assert "https://wa.me/6281234567890?text=" in page.content.decode()
    assert owed_by(paid.account.customer) == 30_000


def test_the_account_leads_to_the_receipt_right_after_the_payment(cashier, paid):
    customer = paid.account.customer_id

    page = cashier.get(f"/customers/{customer}/credit/")
    assert has_id(page, "payment-receipt")
    assert page.content.decode().count(f'href="{address_of(paid)}"') == 2  # and it is in the list

    seen = browser_of("auditor").get(f"/customers/{customer}/credit/")
    assert address_of(paid) not in seen.content.decode()


def test_only_people_who_may_take_it_print_it_and_without_full_numbers_there_is_no_text(paid):
    for role, status in (("viewer", 403), ("auditor", 403), ("cashier", 200), ("supervisor", 200)):
        assert browser_of(role).get(address_of(paid)).status_code == status, role

    role = User.objects.get(username="seller").groups.get()
    role.permissions.remove(role.permissions.get(codename="view_number"))
    page = browser_of("cashier", username="another").get(address_of(paid))

    assert page.status_code == 200
    assert message_of(page) == ""
    assert "wa.me" not in page.content.decode()


def test_the_receipt_of_an_undone_payment_is_void_and_a_note_on_cash_stays_in_the_shop(cashier, paid):
    noted = record_payment(paid.account, amount=1_000, method="cash", reason="angry", actor=paid.person)
    assert "angry" not in cashier.get(address_of(noted)).content.decode()

    undoing = undo_payment(paid, actor=paid.person, reason="wrong customer")

    page = cashier.get(address_of(paid))
    assert "data-void" in papers_of(page)[0]
    assert has_id(page, "receipt-void")
    assert "Rp30.000" not in message_of(page)
    assert cashier.get(address_of(undoing)).status_code == 404


def test_the_printer_of_a_till_gets_the_same_lines_when_asked():
    browser = cashier_at_a_till()
    customer = give_credit()
    seller = make_person("cashier", username="taker")
    sell_to(customer, 50_000, by=seller)
    entry = record_payment(account_of(customer), amount=5_000, method="cash", actor=seller)

    page = browser.get(address_of(entry), {"paper": "80"})

    job, [paper] = job_of(page), papers_of(page)
    assert words_of(job) == text_of(paper).replace("–", "-").split()
    assert not job.get("now")
