"""The shop pays its debt to a customer out once, from the drawer of the person who pays it."""

import csv
import re
import uuid
from functools import partial

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from audit.models import AuditEvent
from credit.errors import CreditRefused
from credit.models import CreditEntry
from drawers.errors import DrawerRefused
from drawers.events import CREDIT_PAID_OUT
from drawers.models import DrawerEntry
from drawers.services import (
    close_shift,
    day_lines,
    expected_cash,
    pay_out_credit,
    take_credit_payment,
    totals_of,
)
from staff.models import User
from testing.orders import at_once
from testing.people import browser_of, make_person
from tests.core.helpers import codes
from tests.credit.helpers import account_of, fault_codes, give_credit, owed_by, sell_to, take_off
from tests.drawers.helpers import begin, end, pieces_of, sell, send_as, token_on

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def counter():
    """A cashier's browser, open shift with Rp100.000, and a customer whom the shop owes Rp30.000."""
    browser = browser_of("cashier")
    shift = begin(User.objects.get(username="cashier"), cash=100_000)
    return browser, shift, kept_for(shift, 30_000)


def kept_for(shift, amount, name="Bu Sri"):
    """A customer who has paid so much by QRIS for a sale that failed, so that the shop owes it."""
    customer = give_credit(name, cap=200_000)
    order = sell_to(customer, amount, by=shift.cashier)
    take_credit_payment(account_of(customer), amount=amount, method="qris", actor=shift.cashier)
    take_off(end(order, "failed"), actor=shift.cashier)
    return customer


def payouts():
    return list(DrawerEntry.objects.filter(kind="credit_out").order_by("pk").values_list("method", "amount"))


def paid_out(customer):
    entries = CreditEntry.objects.filter(account=account_of(customer), kind="paid_back").order_by("pk")
    return list(entries.values_list("method", "amount", "reason"))


def test_what_the_shop_owes_is_paid_out_of_the_own_drawer(counter):
    browser, shift, customer = counter
    account, out = f"/customers/{customer.pk}/credit/", f"/customers/{customer.pk}/credit/paid-out/"
    page = browser.get(account).content.decode()
    assert 'id="credit-payment"' not in page
    assert re.search(r'name="amount" value="30\.000"', page[page.index('id="credit-payout"') :])

    fields = {"amount": "20.000", "method": "cash", "reason": "moves away"}
    browser.post(out, {**fields, "token": token_on(browser, account, 'id="credit-payout"')})
    browser.post(out, {"amount": "10.000", "method": "transfer", "token": token_on(browser, account, "credit-payout")})

    assert (owed_by(customer), expected_cash(shift)) == (0, 80_000)
    assert paid_out(customer) == [("cash", 20_000, "moves away"), ("transfer", 10_000, "")]
    assert payouts() == [("cash", -20_000), ("transfer", -10_000)]
    events = AuditEvent.objects.filter(kind=CREDIT_PAID_OUT.key).order_by("pk")
    assert [(event.subject, event.facts["amount"], event.facts["shift"]) for event in events] == [
        (f"customer {customer.pk}", 20_000, shift.pk),
        (f"customer {customer.pk}", 10_000, shift.pk),
    ]
    assert 'id="credit-payout"' not in browser.get(account).content.decode()
    assert close_shift(shift, pieces=pieces_of(80_000), actor=shift.cashier).difference == 0


def test_without_the_right_to_credit_nobody_moves_money_of_an_account(counter):
    _browser, _shift, customer = counter
    auditor = browser_of("auditor")

    for move in (pay_out_credit, take_credit_payment):
        with pytest.raises(CreditRefused) as refusal:
            move(account_of(customer), amount=10_000, method="transfer", actor=User.objects.get(username="auditor"))
        assert refusal.value.reason == "may_not"
    assert 'id="credit-payout"' not in auditor.get(f"/customers/{customer.pk}/credit/").content.decode()
    assert auditor.post(f"/customers/{customer.pk}/credit/paid-out/", {}).status_code == 403
    assert owed_by(customer) == -30_000


def test_a_form_that_is_sent_twice_pays_out_once(counter):
    browser, shift, customer = counter
    account, out = f"/customers/{customer.pk}/credit/", f"/customers/{customer.pk}/credit/paid-out/"
    fields = {"amount": "10.000", "method": "cash", "token": token_on(browser, account, 'id="credit-payout"')}

    assert at_once(*[partial(send_as, shift.cashier, out, fields)] * 2) == [302, 302]
    again = browser.post(out, fields, follow=True)
    other = browser.post(out, {**fields, "amount": "5.000"}, follow=True)

    assert (codes(again), codes(other)) == ({"credit_paid_out"}, {"CreditRefused:form_used"})
    assert (owed_by(customer), expected_cash(shift)) == (-20_000, 90_000)
    assert (payouts(), AuditEvent.objects.filter(kind=CREDIT_PAID_OUT.key).count()) == ([("cash", -10_000)], 1)


def test_of_two_who_pay_out_all_at_once_one_does(counter):
    _browser, first, customer = counter
    second = begin(make_person("supervisor"), cash=100_000)
    pay = [
        partial(pay_out_credit, account_of(customer), amount=30_000, method="cash", actor=shift.cashier)
        for shift in (first, second)
    ]

    results = at_once(*pay)

    assert [getattr(result, "reason", "") for result in results].count("more_than_kept") == 1
    assert (owed_by(customer), payouts()) == (0, [("cash", -30_000)])
    assert expected_cash(first) + expected_cash(second) == 170_000


def test_what_cannot_be_paid_out_is_refused(counter):
    browser, shift, customer = counter
    for fields, code in (
        ({"amount": "30.001", "method": "cash"}, "CreditRefused:more_than_kept"),
        ({"amount": "1.000", "method": "card"}, "CreditRefused:no_reference"),
        ({"amount": "x", "method": "cash"}, ""),
        ({"amount": "1.000", "method": "credit"}, ""),
        ({"amount": "1.000", "method": "cash", "token": "x"}, ""),
    ):
        sent = {"token": str(uuid.uuid4()), **fields}

        answer = browser.post(f"/customers/{customer.pk}/credit/paid-out/", sent, follow=True)

        form = answer.context["payout"]
        assert (codes(answer), answer.status_code) == (set(), 422)
        assert not code or code in fault_codes(form)
        assert (form["amount"].value(), form["method"].value()) == (fields["amount"], fields["method"])
        assert (owed_by(customer), payouts(), expected_cash(shift)) == (-30_000, [], 100_000)
    page = browser.post(f"/customers/{customer.pk}/credit/paid/", {"amount": "x", "method": "cash"})
    assert (page.status_code, page.context["payout"]) == (422, None)  # no payout is beside a faulty payment
    assert page.content.decode().count('id="id_amount"') == 1


def test_given_the_other_side_owes_by_now_then_a_message_refuses(counter):
    """A colleague was faster: the page no longer offers this form."""
    browser, shift, customer = counter
    for kept, path, code in (
        (10_000, "paid", "more_than_owed"),
        (0, "paid", "more_than_owed"),
        (0, "paid-out", "more_than_kept"),
    ):
        if faster := -owed_by(customer) - kept:
            pay_out_credit(account_of(customer), amount=faster, method="transfer", actor=shift.cashier)
        fields = {"amount": "1.000", "method": "cash", "token": str(uuid.uuid4())}

        page = browser.post(f"/customers/{customer.pk}/credit/{path}/", fields, follow=True)

        assert (codes(page), page.status_code) == ({f"CreditRefused:{code}"}, 200)
        assert page.context["payment"] is None
        assert bool(page.context["payout"]) == bool(kept)
        assert owed_by(customer) == -kept


def test_a_drawer_with_too_little_pays_nothing_out(counter):
    """A sale of a moment ago is in the drawer."""
    browser, shift, _customer = counter
    customer = kept_for(shift, 100_001, "Pak Budi")
    out = f"/customers/{customer.pk}/credit/paid-out/"
    fields = {"amount": "100.001", "method": "cash", "token": str(uuid.uuid4())}

    assert fault_codes(browser.post(out, fields).context["payout"]) == ["TooLittleCash"]
    assert (owed_by(customer), payouts()) == (-100_001, [])
    sell(shift.cashier, 500)
    assert codes(browser.post(out, fields, follow=True)) == {"credit_paid_out"}

    assert (owed_by(customer), expected_cash(shift)) == (0, 499)
    assert codes(browser.post(out, fields, follow=True)) == {"credit_paid_out"}  # once, though there is too little now


def test_without_a_drawer_only_a_transfer_goes_out(counter):
    browser, shift, customer = counter
    close_shift(shift, pieces=pieces_of(100_000), actor=shift.cashier)
    out = f"/customers/{customer.pk}/credit/paid-out/"

    refused = browser.post(out, {"amount": "1.000", "method": "cash", "token": str(uuid.uuid4())})
    browser.post(out, {"amount": "2.000", "method": "transfer", "token": str(uuid.uuid4())})

    assert fault_codes(refused.context["payout"]) == ["DrawerRefused:no_shift"]
    assert (owed_by(customer), payouts(), paid_out(customer)) == (-28_000, [], [("transfer", 2_000, "")])


def test_shift_day_papers_and_files_say_what_was_paid_out(counter):
    _browser, shift, customer = counter
    for amount, method in ((20_000, "cash"), (4_000, "qris")):
        pay_out_credit(account_of(customer), amount=amount, method=method, actor=shift.cashier)
    totals = totals_of([shift.pk])[shift.pk]
    assert (totals.expected, totals.all_credit_out, totals.all_credit) == (80_000, -24_000, 30_000)
    owner = browser_of("admin")

    page = owner.get(f"/shifts/{shift.pk}/").content.decode()
    for name, amount in (("credit_out_cash", "20.000"), ("credit_out_qris", "4.000")):
        assert re.search(rf'id="line-{name}".*?{re.escape(amount)}', page, re.DOTALL), name
    assert 'id="shift-credit-out" data-amount="-24000"' in page
    assert "20.000" in owner.get(f"/shifts/{shift.pk}/?paper=80").content.decode()
    lines = b"".join(owner.get(f"/shifts/{shift.pk}/csv/").streaming_content).decode("utf-8-sig").splitlines()
    rows = [(row["kind"], row["method"], row["amount"]) for row in csv.DictReader(lines)]
    assert rows[-2:] == [("credit_out", "cash", "-20000"), ("credit_out", "qris", "-4000")]

    day = close_shift(shift, pieces=pieces_of(80_000), actor=shift.cashier).day
    assert day_lines(day)[0].totals.all_credit_out == -24_000
    address = f"/shifts/days/{timezone.localdate()}/"
    assert owner.get(address).content.decode().count('data-credit-out="-24000"') == 2
    lines = b"".join(owner.get(f"{address}csv/").streaming_content).decode("utf-8-sig").splitlines()
    row = next(csv.DictReader(lines))
    assert (row["credit_payouts"], row["credit_paid_out_in_cash"], row["expected"]) == ("-24000", "-20000", "80000")


def test_the_database_takes_no_payout_that_adds_cash(counter):
    _browser, shift, customer = counter
    paid = pay_out_credit(account_of(customer), amount=1_000, method="transfer", actor=shift.cashier)
    entry = DrawerEntry.objects.get(credit_entry=paid)
    facts = {"shift": shift, "kind": "credit_out", "method": "cash", "person": shift.cashier, "at": entry.at}

    for wrong in ({"amount": 1_000}, {"amount": -1_000}):  # the second one names no entry of the account
        with pytest.raises(DatabaseError, match="drawer_entry"), transaction.atomic():
            DrawerEntry.objects.create(**facts, **wrong)
    with pytest.raises(DrawerRefused, check=lambda refusal: refusal.reason == "no_shift"):
        pay_out_credit(account_of(customer), amount=1_000, method="cash", actor=make_person("supervisor"))
