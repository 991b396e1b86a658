"""The pages of credit: each person's view and acts there, with few queries and without reading the history."""

import datetime as dt
import html
import re
import uuid

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.models import AuditEvent
from core.times import day_words
from credit.events import CREDIT_CHANGED
from credit.models import CreditAccount, CreditEntry
from credit.services import bring_forward, record_payment
from customers.events import CUSTOMER_ERASED
from customers.models import Customer, SavedNumber
from drawers.services import take_credit_payment
from staff.models import User
from testing.database import undone
from testing.people import browser_of, make_person, signed_in
from tests.core.helpers import counts_at, has_id, words_at
from tests.credit.helpers import account_of, fault_codes, give_credit, made_due, owed_by, page_of, sell_to
from tests.customers.helpers import erase, make_customer
from tests.drawers.helpers import begin, end, sell
from tests.plans import asked, too_wide, weigh

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_administrator_gives_credit_and_it_is_noted():
    browser, customer = browser_of("administrator"), make_customer()
    assert 'id="no-credit"' in page_of(browser, f"/customers/{customer.pk}/credit/")

    wrong = browser.post(f"/customers/{customer.pk}/credit/terms/", {"cap": "x", "due_days": "14"})
    assert wrong.status_code == 422
    browser.post(f"/customers/{customer.pk}/credit/terms/", {"cap": "500.000", "due_days": "7"})
    assert not CreditAccount.objects.exists()  # without a second factor
    browser.confirm(f"/customers/{customer.pk}/credit/terms/", {"cap": "500.000", "due_days": "7"})
    browser.confirm(f"/customers/{customer.pk}/credit/terms/", {"cap": "500.000", "due_days": "14"})
    brought = {"amount": "20.000", "reason": "Book", "token": str(uuid.uuid4())}
    browser.post(f"/customers/{customer.pk}/credit/brought/", brought)
    assert owed_by(customer) == 0
    browser.confirm(f"/customers/{customer.pk}/credit/brought/", brought)

    account = CreditAccount.objects.get()
    assert (account.cap, account.due_days, account.balance) == (500_000, 14, 20_000)
    events = AuditEvent.objects.filter(kind=CREDIT_CHANGED.key).order_by("pk")
    assert [event.after["due_days"] for event in events] == [7, 14]


def test_a_cashier_takes_a_payment_and_undoes_it():
    browser, customer = browser_of("cashier"), give_credit()
    cashier = User.objects.get(username="cashier")
    SavedNumber.objects.create(customer=customer, destination="08111222333", kind="meter")
    SavedNumber.objects.create(customer=customer, destination="081234567890", kind="phone")
    shift = begin(cashier)
    sell_to(customer, 30_000, by=cashier)
    page = page_of(browser, f"/customers/{customer.pk}/credit/")
    assert 'data-amount="30000"' in page
    assert 'id="credit-terms"' not in page
    assert "https://wa.me/6281234567890?text=" in page
    assert 'id="customer-credit"' in page_of(browser, f"/customers/{customer.pk}/")

    browser.post(
        f"/customers/{customer.pk}/credit/paid/", {"amount": "12.000", "method": "cash", "token": str(uuid.uuid4())}
    )
    payment = CreditEntry.objects.get(kind="payment")
    assert owed_by(customer) == 18_000
    assert "+Rp12.000" in page_of(browser, f"/shifts/{shift.pk}/")
    assert f"/credit/payments/{payment.pk}/undo/" in page_of(browser, f"/customers/{customer.pk}/credit/")
    assert 'id="last-paid" data-amount="12000"' in page_of(browser, f"/customers/{customer.pk}/")
    browser.post(f"/credit/payments/{payment.pk}/undo/", {"reason": "typed wrongly"})

    assert owed_by(customer) == 30_000
    assert 'id="last-paid"' not in page_of(browser, f"/customers/{customer.pk}/")
    again = browser.post(f"/credit/payments/{payment.pk}/undo/", {"reason": "typed wrongly"})
    assert 'id="form-fault"' in again.content.decode()


REFUSED = [
    ({"amount": "4.000", "method": "card"}, "note", "CreditRefused:no_reference"),
    ({"amount": "31.000", "method": "transfer", "note": "BCA 11"}, "amount", "CreditRefused:more_than_owed"),
    ({"amount": "4.000", "method": "cash", "note": "half"}, "method", "DrawerRefused:no_shift"),
]


def test_given_a_refused_payment_then_the_typed_values_stay():
    browser, customer = browser_of("cashier"), give_credit()
    sell_to(customer, 30_000, by=User.objects.get(username="cashier"))
    for count, (typed, field, code) in enumerate(REFUSED):
        token, owed = str(uuid.uuid4()), 30_000 - 4_000 * count

        answer = browser.post(f"/customers/{customer.pk}/credit/paid/", {**typed, "token": token})

        form = answer.context["payment"]
        assert answer.status_code == 422, code
        assert {name: form[name].value() for name in (*typed, "token")} == {**typed, "token": token}
        assert {name: fault_codes(form) for name in form.errors} == {field: [code]}
        assert f'id="id_{field}_error"' in answer.content.decode()
        assert owed_by(customer) == owed, code
        # then: the same form is taken once it is right
        right = {**typed, "method": "card", "amount": "4.000", "note": "slip 7", "token": token}
        browser.post(f"/customers/{customer.pk}/credit/paid/", right)
        assert owed_by(customer) == owed - 4_000, code


def test_a_debtor_who_never_paid_is_said_to_have_never_paid():
    browser, debtor, seller = browser_of("administrator"), give_credit(), make_person("cashier", username="sari")
    pages = [f"/customers/{debtor.pk}/", f"/customers/{debtor.pk}/credit/"]

    def said():
        shown = [browser.get(page) for page in pages]
        return [(has_id(page, "never-paid"), has_id(page, "last-paid")) for page in shown]

    assert said() == [(False, False)] * 2, "nothing was bought"
    sell_to(debtor, 30_000, by=seller)
    assert said() == [(True, False)] * 2
    record_payment(account_of(debtor), method="transfer", amount=12_000, actor=seller)
    assert said() == [(False, True)] * 2

    # a debt from a notebook does not say how much was paid there
    pages[:] = [f"/customers/{give_credit('Bu Lama').pk}/"]
    account = account_of(Customer.objects.get(name="Bu Lama"))
    bring_forward(account, amount=5_000, reason="Book", actor=make_person("administrator", username="wati"))
    assert said() == [(False, False)]


def test_a_payment_below_many_later_entries_is_not_taken_for_none(monkeypatch):
    # given: of three entries that are searched for the last payment, it is the third
    monkeypatch.setattr("credit.templatetags.credit._NEWEST", 3)
    browser, customer = browser_of("cashier"), give_credit()
    cashier = User.objects.get(username="cashier")
    sell_to(customer, 30_000, by=cashier)
    assert 'id="not-paid-lately"' not in page_of(browser, f"/customers/{customer.pk}/"), "fewer entries"
    take_credit_payment(account_of(customer), amount=12_000, method="transfer", actor=cashier)

    said = []
    for _later in range(3):
        sell_to(customer, 1_000, by=cashier)
        page = page_of(browser, f"/customers/{customer.pk}/")
        said.append(('id="last-paid" data-amount="12000"' in page, 'id="not-paid-lately"' in page))

    assert said == [(True, False), (True, False), (False, True)]


def has_mark(page, ref_id):
    """Whether the debt for this order says that the order did not go through."""
    debts = page.content.decode().partition('id="debts"')[2].partition("</table>")[0]
    row = next(row for row in debts.split("<tr") if ref_id in row)
    return "data-unfulfilled" in row


def test_the_customers_page_says_what_is_owed_since_when_and_until_when():
    browser, customer, today = browser_of("supervisor"), give_credit(cap=500_000), timezone.localdate()
    seller = User.objects.get(username="supervisor")
    orders = [sell_to(customer, 10_000 + n, by=seller) for n in range(7)]
    address = f"/customers/{customer.pk}/"

    page = browser.get(address)
    made_due(customer, days_ago=3)
    late = page_of(browser, address)

    rows = page.content.decode().partition('id="debts"')[2].partition("</table>")[0]
    due = (today + dt.timedelta(days=14)).isoformat()
    assert re.findall(r'<tr data-due="([^"]+)"', rows) == [due] * 5
    assert [order.ref_id in rows for order in orders] == [True] * 5 + [False] * 2
    assert day_words(today.isoformat()) in words_at(page, 'id="owed-since"')
    assert counts_at(page, 'id="more-debts"') == [2]
    assert f'<tr data-due="{(today - dt.timedelta(days=3)).isoformat()}"' in late
    end(orders[0], "failed")
    assert has_mark(browser.get(address), orders[0].ref_id)
    assert not has_mark(browser.get(address), orders[1].ref_id)
    record_payment(account_of(customer), method="transfer", amount=70_021, actor=seller)
    assert not has_id(browser.get(address), "owed-since")


def remind(*debts, today):
    """The amounts and days of the reminder for these debts (rupiah, due in days), `today` days after the sales."""
    start, seller, customer = timezone.localdate(), make_person("cashier"), give_credit(cap=500_000)
    for amount, days in debts:
        CreditAccount.objects.update(due_on=start + dt.timedelta(days=days))
        sell_to(customer, amount, by=seller)
    with time_machine.travel(timezone.now() + dt.timedelta(days=today)):
        browser = browser_of("supervisor", username="reader")
        page = page_of(browser, f"/customers/{customer.pk}/credit/")
    text = html.unescape(page.split('id="reminder-text"')[1].split(">", 1)[1].split("</textarea>")[0])
    days = {day_words(start + dt.timedelta(days=n)): n for n in range(60)}
    found = re.findall(rf"Rp[\d.]+|{'|'.join(days)}", text)
    return [days[word] if word in days else int(word.removeprefix("Rp").replace(".", "")) for word in found]


REMINDERS = [
    ([(103_000, 5)], 0, [103_000, 5]),
    ([(100_000, 5), (3_000, 5), (21_000, 19)], 5, [124_000, 103_000, 5, 21_000, 19]),
    ([(103_000, 5), (21_000, 19), (1_000, 30)], 0, [125_000, 103_000, 5, 22_000, 19, 30]),
    ([(103_000, 5), (21_000, 19)], 6, [124_000, 103_000, 21_000, 19]),
    ([(103_000, 5)], 6, [103_000, 103_000]),
]


def test_a_reminder_asks_for_what_is_due_and_names_the_rest():
    for debts, today, asked_for in REMINDERS:
        with undone():
            assert remind(*debts, today=today) == asked_for, (debts, today)


def test_the_list_shows_who_owes_by_age_and_its_file_too():
    seller, late, fresh = make_person("cashier"), give_credit("Bu Late"), give_credit("Pak Fresh")
    give_credit("Bu Nothing")
    today = give_credit("Bu Today", due_days=0)
    sell_to(late, 30_000, by=seller)
    made_due(late, 10)
    sell_to(fresh, 10_000, by=seller)
    sell_to(today, 7_000, by=seller)
    browser = browser_of("auditor")

    page = page_of(browser, "/credit/")
    assert 'data-amount="47000"' in page
    assert page.index("Bu Late") < page.index("Bu Today") < page.index("Pak Fresh")
    assert "Bu Nothing" not in page
    owed = {"Bu Late": 30_000, "Bu Today": 7_000, "Pak Fresh": 10_000}
    ages = (("due", "Bu Late"), ("month", "Bu Late"), ("today", "Bu Today"), ("not_due", "Pak Fresh"))
    for query, shown in (*((f"age={age}", name) for age, name in ages), ("q=fresh", "Pak Fresh")):
        page = page_of(browser, f"/credit/?{query}")
        assert [name for name in owed if name in page] == [shown], query
        assert f'data-amount="{owed[shown]}"' in page, query

    lines = b"".join(browser.get("/credit/csv/").streaming_content).decode().splitlines()
    assert lines[0].endswith("customer,due_since,not_due,week,month,older,owed,cap,not_to_ask")
    assert re.fullmatch(r"Bu Late,\d{4}-\d\d-\d\d,0,0,30000,0,30000,100000,0", lines[1])


def test_a_sale_is_put_on_credit_on_the_orders_page():
    shift, customer = begin(), give_credit()
    order = sell(shift.cashier, 10_500)
    browser = signed_in(shift.cashier)
    paid = f"/drawer/sales/{order.ref_id}/paid/"

    browser.post(paid, {"method": "credit", "customer": "Nobody"})
    assert owed_by(customer) == 0
    browser.post(paid, {"method": "credit", "customer": "bu sri"})

    page = page_of(browser, f"/orders/{order.ref_id}/")
    assert 'data-method="credit"' in page
    assert 'id="sale-debtor"' in page
    assert owed_by(customer) == 10_500
    auditor = browser_of("auditor")
    link = re.search(r'id="sale-debtor" href="([^"]+)"', page_of(auditor, f"/orders/{order.ref_id}/"))
    assert link
    assert 'data-amount="10500"' in page_of(auditor, link[1])
    end(order, "failed")
    browser.post(f"/drawer/sales/{order.ref_id}/given-back/", {"method": "credit", "shift": shift.pk})
    assert owed_by(customer) == 0
    shown = page_of(browser, f"/shifts/{shift.pk}/")
    assert 'id="shift-credit-sales" data-amount="10500"' in shown
    assert 'id="shift-credit-left" data-amount="0"' in shown


def test_a_customer_who_owes_is_kept_and_says_why():
    browser, customer = browser_of("cashier"), give_credit()
    address = f"/customers/{customer.pk}/delete/"
    offered = browser.get(address)
    sell_to(customer, 10_000, by=User.objects.get(username="cashier"))

    page = browser.get(address)
    erase(browser, customer)

    assert [has_id(shown, "deleted-too") for shown in (offered, page)] == [True, False]
    assert [has_id(shown, "kept") for shown in (offered, page)] == [False, True]
    assert Customer.objects.filter(pk=customer.pk).exists()
    assert owed_by(customer) == 10_000
    assert not AuditEvent.objects.filter(kind=CUSTOMER_ERASED.key).exists()


def test_closing_and_day_show_what_was_sold_and_paid_on_credit():
    shift, customer = begin(cash=100_000), give_credit()
    sell_to(customer, 30_000, by=shift.cashier)
    take_credit_payment(account_of(customer), amount=12_000, method="cash", actor=shift.cashier)
    take_credit_payment(account_of(customer), amount=5_000, method="qris", actor=shift.cashier)
    browser = browser_of("admin")

    page = page_of(browser, f"/shifts/{shift.pk}/")

    for name, amount in (("credit_cash", "+Rp12.000"), ("credit", "+Rp30.000"), ("credit_qris", "+Rp5.000")):
        assert re.search(rf'id="line-{name}".*?{re.escape(amount)}', page, re.DOTALL), name
    assert "Rp12.000" in page_of(browser, f"/shifts/{shift.pk}/?paper=80")


def test_the_pages_ask_little_and_read_no_history():
    seller, customer = make_person("cashier"), give_credit(cap=100_000_000)
    for _ in range(3):
        sell_to(customer, 10_000, by=seller)
    record_payment(account_of(customer), amount=15_000, method="qris", actor=seller)
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(
            "INSERT INTO credit_creditentry (account_id, kind, method, amount, balance_after, ref_id, due_on, reason,"
            " person_id, at) SELECT account_id, 'sale', '', 1, 1, 'OLD' || n, '2020-01-01', '', person_id,"
            " at - n * interval '1 hour' FROM credit_creditentry, generate_series(1, 4000) n WHERE kind = 'payment'"
        )
        cursor.execute("SET session_replication_role = origin")
    weigh("credit_creditaccount")
    browser = browser_of("admin")
    for path in ("/credit/", f"/customers/{customer.pk}/credit/", f"/customers/{customer.pk}/"):
        browser.get(path)
        with CaptureQueriesContext(connection) as queries:
            page_of(browser, path)
        # the customer's page: 12, with the debts, and the numbers that are followed and their bills due
        assert len(queries) <= 12, path
        assert list(too_wide(asked(queries.captured_queries))) == [], path


BADGES = [(-1, "Not due", "queued"), (0, "Due today", "held"), (1, "1 day late", "bad"), (9, "9 days late", "bad")]


def test_the_badge_says_what_is_due_today_and_is_red_if_overdue():
    customer, browser = give_credit(), browser_of("supervisor")
    sell_to(customer, 10_000, by=make_person("cashier", username="sari"))
    for days_ago, said, colour in BADGES:
        made_due(customer, days_ago)

        rows = browser.get("/credit/").content.decode().split("<tbody>")[1]

        assert said in re.sub(r"<[^>]+>", " ", rows)
        assert re.findall(r'class="status status-(\w+)"', rows) == [colour], said
