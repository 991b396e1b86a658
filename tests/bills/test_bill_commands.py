"""The bill commands use the same services as the pages; their exit code gives the state."""

import datetime as dt
import json

import pytest
import time_machine
from django.utils import timezone

from bills.models import BillCheck
from catalogue.models import Product
from purchases.models import Order
from testing.orders import FIELDS
from tests.conftest import Upstream
from tests.core.helpers import run

CHECK_FIELDS = {
    *("ref_id", "product_code", "destination", "status", "customer_name", "period", "details"),
    *("amount", "admin_fee", "penalty", "total", "expires_at", "error_code", "message", "payment"),
}


@pytest.fixture
def biller(upstream: Upstream) -> Product:
    return Product.objects.filter(type="postpaid", category__name__startswith="PLN").earliest("pk")


def check_bill(biller: Product, number: str, wait: float = 3) -> tuple[int, dict[str, object]]:
    code, out = run(
        "check_bill", f"--product={biller.code}", f"--destination=5312900000{number}", f"--wait={wait}", "--json"
    )
    return code, json.loads(out)


CHECKED = [
    ("01", "valid", 0, "--amount=1", ""),
    ("32", "pending", 3, "", "not answered yet"),
    ("35", "not_payable", 1, "", "already paid"),
    ("36", "not_payable", 1, "", "no bill"),
]


def test_check_bill_exits_with_the_state_and_pay_bill_refuses_each_in_its_own_words(biller):
    for number, status, code, amount, words in CHECKED:
        exit_code, facts = check_bill(biller, number, wait=0.3 if status == "pending" else 10)

        assert set(facts) == CHECK_FIELDS
        assert (facts["status"], exit_code) == (status, code), number
        exit_code, sentence = run("pay_bill", str(facts["ref_id"]), *filter(None, [amount]))
        assert (exit_code, "\n" in sentence, words in sentence) == (1, False, True), number
    assert not Order.objects.exists()


def test_pay_bill_pays_the_total_and_bill_then_says_paid(biller, upstream):
    _, facts = check_bill(biller, "01")

    code, out = run("pay_bill", str(facts["ref_id"]), f"--amount={facts['total']}", "--wait=5", "--json")

    paid = json.loads(out)
    assert set(paid) == FIELDS
    assert (code, paid["status"], paid["kind"], paid["price"]) == (0, "success", "bill", facts["total"])
    assert upstream.ledger(Order.objects.get()) == [("debit", -int(str(facts["total"])))]
    code, out = run("bill", str(facts["ref_id"]), "--json")
    assert (code, json.loads(out)["status"]) == (0, "paid")


def test_pay_bill_ends_as_the_sandbox_says(biller, upstream):
    for number, status, code in (("04", "failed", 1), ("37", "rejected", 1), ("34", "needs_action", 3)):
        _, facts = check_bill(biller, number)

        exit_code, out = run("pay_bill", str(facts["ref_id"]), "--wait=5", "--json")

        assert (json.loads(out)["status"], exit_code) == (status, code), number


def test_repeating_pay_bill_never_confirms_a_new_total(biller, upstream):
    _, facts = check_bill(biller, "34")
    ref_id, new = str(facts["ref_id"]), int(str(facts["total"])) + 2_500
    run("pay_bill", ref_id, "--wait=1")

    for arguments in ((), (), (f"--amount={new - 2_500}",), ()):
        code, sentence = run("pay_bill", ref_id, *arguments)
        assert (code, "\n" in sentence) == (1, False)
    assert f"--amount {new}" in sentence
    assert (Order.objects.get().status, upstream.ledger(Order.objects.get())) == ("needs_action", [])
    with time_machine.travel(timezone.now() + dt.timedelta(minutes=6), tick=True):
        code, sentence = run("pay_bill", ref_id)
    assert (code, "has expired" in sentence) == (1, True)  # and it names no new total

    assert run("pay_bill", ref_id, f"--amount={new}", "--wait=5")[0] == 0
    assert upstream.ledger(Order.objects.get()) == [("debit", -new)]


def test_commands_name_the_other_payment_of_a_bill(biller, upstream):
    _, first = check_bill(biller, "20")
    run("pay_bill", str(first["ref_id"]), "--wait=1")

    code, facts = check_bill(biller, "20")
    assert (code, facts["status"], facts["payment"]) == (1, "not_payable", None)
    assert str(first["ref_id"]) in str(facts["message"])

    upstream.control("topup", amount=5_000_000)
    run("pay_bill", str(first["ref_id"]), "--wait=5")
    code, out = run("bill", str(facts["ref_id"]))
    assert code == 1
    assert str(first["ref_id"]) in out
    assert run("pay_bill", str(facts["ref_id"]))[0] == 1


def test_bill_says_not_final_while_its_payment_is_open(biller, upstream):
    _, facts = check_bill(biller, "03")
    run("pay_bill", str(facts["ref_id"]), "--wait=1")
    BillCheck.objects.update(expires_at=timezone.now())

    code, out = run("bill", str(facts["ref_id"]), "--json")

    assert (code, json.loads(out)["payment"], json.loads(out)["status"]) == (3, "pending", "valid")


@pytest.mark.django_db
def test_an_unknown_ref_id_or_biller_exits_with_1():
    assert run("bill", "never-seen")[0] == 1
    assert run("pay_bill", "never-seen")[0] == 1
    assert run("check_bill", "--product=NOPE", "--destination=531290000001")[0] == 1
