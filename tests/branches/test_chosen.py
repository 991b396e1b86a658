"""A person chooses one branch on pages that are no list of orders: journal, bank, tabs and bills due."""

import datetime as dt
import re
from collections import Counter
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from batches.models import BatchRow
from branches.models import FIRST
from credit.models import CreditAccount
from credit.services import bring_forward
from customers.models import Customer
from drawers.models import Drawer, DrawerEntry, Shift
from drawers.services import change_payment, close_shift, give_back, take_credit_payment, undo_credit_payment
from earnings.services.journal import journal_of
from reconciliation.services import announce_top_up
from staff.models import User
from testing.database import past_triggers
from testing.factories import make_check, make_payment
from testing.people import browser_of, make_person
from tests.bank.helpers import paid
from tests.branches.helpers import make_branch
from tests.core.helpers import amounts_at, codes, has_id
from tests.credit.helpers import account_of, give_credit, sell_to
from tests.drawers.helpers import begin, end, pieces_of, sell
from tests.dues.helpers import due_bill
from tests.ledger.helpers import open_books, post
from tests.plans import MANY, asked, copy_many, plan_of, scans, weigh

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def second():
    open_books(5_000_000)
    return make_branch("Tebet")


def seller_of(branch=None) -> User:
    """A cashier with an open drawer in this branch, else in the first."""
    name = branch.name if branch else "Pusat"
    person = make_person("cashier", username=f"cashier-{name}".lower(), branch_id=branch.pk if branch else FIRST)
    drawer = Drawer.objects.create(name=f"Drawer {name}", branch_id=person.branch_id)
    begin(person, drawer=drawer, cash=100_000)
    return person


def busy(person: User, name: str) -> None:
    """Make sales that arrived and failed, a sale on credit and its payment, and cash paid out."""
    arrived = end(sell(person, 12_000), "success")
    failed = end(sell(person, 20_000), "failed")
    shift = failed.payment.sold_in
    give_back(failed.payment, method="cash", actor=person, shift=shift)
    customer = give_credit(name, cap=200_000)
    end(sell_to(customer, 30_000, by=person), "success")
    take_credit_payment(account_of(customer), amount=10_000, method="cash", actor=person)
    post("debit", arrived.ref_id, 10_000)
    DrawerEntry.objects.create(
        shift=shift, kind="paid_out", amount=-5_000, reason="Ice", person=person, at=timezone.now()
    )


def net(*journals) -> Counter:
    """The total of the accounts: debits less credits."""
    sums: Counter = Counter()
    for journal in journals:
        for booking in journal:
            sums[booking.debit] += booking.amount
            sums[booking.credit] -= booking.amount
    return Counter({key: amount for key, amount in sums.items() if amount})


def test_the_journals_of_the_branches_are_that_of_the_shop_to_the_rupiah(second):
    busy(seller_of(), "Bu Sri")
    there = seller_of(second)
    busy(there, "Bu Ani")
    end(sell(there, 7_000), "success")
    post("topup", "", 500_000)
    day = timezone.localdate()

    whole, first, other = journal_of(day), journal_of(day, FIRST), journal_of(day, second.pk)

    booked = {(each.debit, each.credit): each.amount for each in other}
    assert booked[("cash", "sales")] == 12_000 + 20_000 + 7_000
    assert booked[("cash", "receivables")] == 10_000
    assert booked[("cost", "deposit")] == 10_000
    assert sum({**net(first), **net(other)}.values()) == 0
    of_shop = net(whole)
    of_shop.subtract(net(first, other))
    assert {
        key: amount for key, amount in of_shop.items() if amount and key not in {"opening", "deposit", "bank"}
    } == {}
    assert ("bank", "deposit") not in booked
    assert "deposit" in of_shop


@pytest.mark.parametrize("is_in_shift", [True, False])
def test_given_a_payment_undone_elsewhere_then_its_branch_books_it(second, is_in_shift):
    there, customer, day = seller_of(second), give_credit(), timezone.localdate()
    end(sell_to(customer, 30_000, by=there), "success")
    close = partial(close_shift, Shift.objects.get(), pieces=pieces_of(100_000), actor=there)
    if not is_in_shift:
        close()
    payment = take_credit_payment(account_of(customer), amount=10_000, method="transfer", actor=there)
    if is_in_shift:
        close()

    undo_credit_payment(payment, actor=make_person("admin"), reason="typed wrongly")

    assert [net(journal_of(day, branch))["transfer"] for branch in (FIRST, second.pk)] == [0, 0]


def test_the_page_and_files_of_the_journal_are_of_the_chosen_branch(second):
    end(sell(seller_of(), 12_000), "success")
    end(sell(seller_of(second), 7_000), "success")
    owner, day = browser_of("admin"), timezone.localdate()

    every, there = (owner.get(f"/earnings/journal/?day={day}{more}") for more in ("", f"&branch={second.pk}"))
    csv = owner.get(f"/earnings/journal/csv/?day={day}&branch={second.pk}")

    assert amounts_at(every, 'id="journal-rows"') == ["Rp19.000", "Rp5.000.000"]
    assert amounts_at(there, 'id="journal-rows"') == ["Rp7.000"]
    assert f"journal-{day}-branch-{second.pk}.csv" in csv["Content-Disposition"]
    text = b"".join(csv.streaming_content).decode()
    assert ("7000" in text, "19000" in text) == (True, False)
    assert f"day={day}&amp;branch={second.pk}" in there.content.decode()


def test_the_bank_says_what_a_branch_should_bring(second):
    paid(seller_of(), 50_000, "transfer")
    paid(seller_of(second), 20_000, "qris")
    announce_top_up(amount=500_000, actor=make_person("administrator"))
    owner = browser_of("admin")

    every, there = owner.get("/bank/"), owner.get(f"/bank/?branch={second.pk}")

    assert [day.came for day in every.context["expected_days"][:2]] == [0, 70_000]
    assert [(day.came, day.left) for day in there.context["expected_days"][:2]] == [(0, 0), (20_000, 0)]
    ways = {way.method.code: way.amount for way in there.context["expected_days"][1].ways}
    assert ways == {"transfer": 0, "qris": 20_000, "card": 0}
    assert has_id(there, "whole-shop")
    assert not has_id(every, "whole-shop")


def owing(browser, query=""):
    return [account.customer.name for account in browser.get(f"/credit/{query}").context["table"].rows]


def test_tabs_are_those_that_owe_for_a_sale_of_the_branch(second):
    here, there = seller_of(), seller_of(second)
    ani, sri = give_credit("Bu Ani"), give_credit("Bu Sri")
    sell_to(ani, 10_000, by=here)
    sell_to(sri, 20_000, by=there)
    paid_off = give_credit("Pak Lunas")
    sell_to(paid_off, 5_000, by=there)
    take_credit_payment(account_of(paid_off), amount=5_000, method="cash", actor=there)
    owner = browser_of("admin")
    bound = browser_of("supervisor", username="bound", branch_id=second.pk, bound_since="2026-01-01T00:00Z")

    assert owing(owner) == ["Bu Ani", "Bu Sri"]
    assert owing(owner, f"?branch={second.pk}") == owing(bound) == ["Bu Sri"]
    page = owner.get(f"/credit/?branch={second.pk}")
    assert amounts_at(page, 'id="owed-in-all"') == ["Rp20.000"]
    assert "Bu Ani" not in b"".join(bound.get("/credit/csv/").streaming_content).decode()
    assert "branch" not in bound.get("/credit/").context["filter"].form.fields


def test_a_tab_is_of_a_branch_while_a_sale_of_it_is_not_paid(second):
    # given: a tab whose older sale was in the branch, a tab whose newer one was; and a debt without a sale
    here, there = seller_of(), seller_of(second)
    for name, sellers in (("Bu Ani", (there, here)), ("Bu Sri", (here, there))):
        customer = give_credit(name)
        for days, person in zip((1, 14), sellers, strict=True):
            CreditAccount.objects.filter(customer=customer).update(due_days=days)
            sell_to(customer, 10_000, by=person)
    bring_forward(account_of(give_credit("Bu Wati")), amount=5_000, reason="notebook", actor=make_person("admin"))
    owner = browser_of("admin", username="owner")
    bound = browser_of("supervisor", username="bound", branch_id=second.pk, bound_since="2026-01-01T00:00Z")
    assert {*owing(bound)} == {"Bu Ani", "Bu Sri", "Bu Wati"}

    # when: the older sales are paid, and a sale on credit elsewhere is changed to cash
    mistaken = sell_to(Customer.objects.get(name="Bu Ani"), 10_000, by=here)
    change_payment(mistaken.payment, method="cash", actor=here)
    for account in CreditAccount.objects.filter(customer__name__in=["Bu Ani", "Bu Sri"]):
        take_credit_payment(account, amount=10_000, method="cash", actor=here)

    assert {*owing(owner)} == {"Bu Ani", "Bu Sri", "Bu Wati"}
    assert {*owing(bound)} == {"Bu Sri", "Bu Wati"}
    assert owing(owner, f"?branch={second.pk}") == ["Bu Sri"]
    assert amounts_at(bound.get("/credit/"), 'id="owed-in-all"') == ["Rp15.000"]
    assert "Bu Ani" not in b"".join(bound.get("/credit/csv/").streaming_content).decode()


def test_of_sales_with_one_due_day_the_first_is_paid_first(second):
    # given: two tabs, each with a sale of either branch on the same day
    here, there = seller_of(), seller_of(second)
    for name, sellers in (("Bu Ani", (there, here)), ("Bu Sri", (here, there))):
        customer = give_credit(name)
        for person in sellers:
            sell_to(customer, 10_000, by=person)
    owner, query = browser_of("admin"), f"?branch={second.pk}"

    for account in CreditAccount.objects.all():
        take_credit_payment(account, amount=9_000, method="cash", actor=here)
    assert {*owing(owner, query)} == {"Bu Ani", "Bu Sri"}  # a part of each first sale is not paid
    for account in CreditAccount.objects.all():
        take_credit_payment(account, amount=1_000, method="cash", actor=here)

    assert owing(owner, query) == ["Bu Sri"]
    assert owing(owner, f"?branch={FIRST}") == ["Bu Ani"]


def test_the_many_sales_of_a_payday_are_each_read_once(second):
    # given: ten tabs, each with 300 sales that are due on one day; the first half, sold in the branch, is paid
    here, half = seller_of(), MANY // 2
    orders = [sell_to(give_credit(f"Bu {letter}"), 10_000, by=here) for letter in "ABCDEFGHIJ"]
    first, model = CreditAccount.objects.earliest("pk").pk, orders[0].payment
    new = {"id": "5000000 + n", "ref_id": "'PAYDAY' || n"}
    copy_many("credit_creditentry", model.debt, account_id=f"{first} + mod(n, 10)", **new)
    branch = f"CASE WHEN n <= {half} THEN {second.pk} ELSE {FIRST} END"
    copy_many("drawers_payment", model, debt_id=new["id"], branch_id=branch, **new)
    with past_triggers() as cursor:
        cursor.execute("UPDATE credit_creditaccount SET balance = %s", [half // 10 * 10_000])
        cursor.execute("UPDATE credit_creditaccount SET balance = balance + 1 WHERE id = %s", [first])
    weigh("credit_creditaccount")
    bound = browser_of("supervisor", username="bound", branch_id=second.pk, bound_since="2026-01-01T00:00Z")

    for browser, query in ((browser_of("admin"), f"?branch={second.pk}"), (bound, "")):
        with CaptureQueriesContext(connection) as queries:
            assert owing(browser, query) == ["Bu A"]  # a rupiah of a sale there is not paid
        for question in asked(queries.captured_queries):
            read = sum(rows for table, _kind, rows in scans(plan_of(question)) if table == "credit_creditentry")
            assert read <= 2 * MANY, question
    assert len(owing(browser_of("admin", username="owner"), f"?branch={FIRST}")) == 10


def test_bills_due_are_of_the_branch_that_was_paid_last_or_entered_the_customer(second):
    there = seller_of(second)
    entered, paid_there, of_nobody = due_bill("1234567890"), due_bill("1234567891"), due_bill("1234567892")
    customer = entered.number.customer
    customer.created_by = there
    customer.save(update_fields=["created_by"])
    before = timezone.now() - dt.timedelta(days=40)
    check = make_check(product=paid_there.number.product, destination="1234567891", created_at=before)
    make_payment(check, "success", placed_by=there, created_at=before, final_at=before)
    owner = browser_of("admin")
    bound = browser_of("supervisor", username="bound", bound_since="2026-01-01T00:00Z")

    def shown(browser, query=""):
        return {bill.pk for bill in browser.get(f"/due/{query}").context["table"].rows}

    assert shown(owner) == {entered.pk, paid_there.pk, of_nobody.pk}
    assert shown(owner, f"?branch={second.pk}") == {entered.pk, paid_there.pk}
    assert shown(bound) == {of_nobody.pk}  # of no branch: seen in each
    assert "row-due-" in owner.get(f"/work/?kind=due&branch={second.pk}").content.decode()
    assert bound.get("/work/?kind=due").content.decode().count('<tr id="row-due-') == 1

    # the overview counts the same
    every, of_branch, seen = owner.get("/"), owner.get(f"/?branch={second.pk}"), bound.get("/")
    bills = (entered, paid_there, of_nobody)
    assert every.context["due"] == {"count": 3, "sum": sum(bill.to_pay for bill in bills)}
    assert of_branch.context["due"] == {"count": 2, "sum": entered.to_pay + paid_there.to_pay}
    assert re.search(rf'href="/due/\?branch={second.pk}"\s+data-amount', of_branch.content.decode())
    assert seen.context["due"] == {"count": 1, "sum": of_nobody.to_pay}

    # and a bound person makes no batch of those of another branch
    answer = bound.post("/batches/due/", {"number": [entered.number.pk]}, follow=True)
    assert not BatchRow.objects.exists()
    assert codes(answer) == {"BatchRefused:none_due"}


def test_a_shop_with_one_branch_never_sees_the_word():
    open_books(1_000_000)
    end(sell(seller_of(), 12_000), "success")
    owner = browser_of("admin")

    for address in ("/earnings/journal/?branch=1", "/bank/?branch=1", "/credit/?branch=1", "/due/?branch=1"):
        page = owner.get(address)
        assert not has_id(page, "branch-links"), address
        assert 'name="branch"' not in page.content.decode(), address
