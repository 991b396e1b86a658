"""A wrong call of a command gives one sentence and exit code 2, and does nothing."""

import json
import logging
from io import StringIO

import pytest
from django.core.management import call_command

from bills.models import BillCheck
from catalogue.models import Product
from gateway.models import UpstreamAccount
from purchases.models import Order
from reconciliation.models import ReconciliationRun
from testing.factories import entries_of, make_biller, make_check, make_product
from tests.conftest import Upstream
from tests.core.helpers import run
from upstream.client import get_client

PHONE = "--destination=081290000001"


def outputs_of(*args: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    out, err = StringIO(), StringIO()
    try:
        call_command(*args, stdout=out, stderr=err)
    except SystemExit as end:
        return int(end.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def refuses(*args: str) -> str:
    """The one sentence of a usage error; asserts that it changed nothing."""
    code, sentence = run(*args)
    assert (code, "\n" in sentence) == (2, False), (args, sentence)
    assert not Order.objects.exists()
    assert not BillCheck.objects.exclude(ref_id="CHECKED").exists()
    assert not ReconciliationRun.objects.exists()
    return sentence


@pytest.fixture
def product(db: None) -> Product:
    return make_product(code="CODE", brand="telkomsel")


@pytest.fixture
def biller(db: None) -> Product:
    return make_biller(code="BILLER")


def test_a_command_is_refused_when_it_is_called_wrongly(product, biller):
    make_check(ref_id="CHECKED", product=biller)
    for arguments in (
        ("buy", PHONE),
        ("buy", "--product=CODE", "--destination=123"),
        ("buy", "--product=CODE", "--destination="),
        ("buy", "--product=BILLER", "--destination=1234567890"),
        ("buy", "--product=CODE", PHONE, "--max-price=-1"),
        ("buy", "--product=CODE", PHONE, "--max-price=0"),
        ("buy", "--product=CODE", PHONE, "--max-price=10_500"),
        ("buy", "--product=CODE", PHONE, "--max-price=9999999999999999"),
        ("buy", "--product=CODE", PHONE, "--key="),
        ("buy", "--product=CODE", PHONE, f"--key={'k' * 65}"),
        ("buy", "--prod=CODE", PHONE),
        ("buy", "--product=CODE", PHONE, "--js"),
        ("check_bill", "--product=CODE", PHONE),
        ("check_bill", "--product=BILLER", "--destination=12"),
        ("check_bill", "--product=BILLER", "--destination="),
        ("check_bill", "--prod=BILLER", "--destination=1234567890"),
        ("pay_bill", "CHECKED", "--amount=-1"),
        ("pay_bill", "CHECKED", "--amount=0"),
        ("pay_bill", "CHECKED", "--amount=much"),
        ("pay_bill", "CHECKED", "--am=102500"),
    ):
        refuses(*arguments)


def test_what_is_not_for_sale_or_costs_more_is_one_sentence_and_places_nothing(product, biller):
    for arguments in (("--product=NOPE", PHONE), ("--product=CODE", PHONE, "--max-price=1")):
        code, sentence = run("buy", *arguments)
        assert (code, "\n" in sentence, bool(sentence)) == (1, False, True), arguments
    Product.objects.update(availability="inactive")
    for command, asked in (("buy", "CODE"), ("check_bill", "BILLER")):
        assert run(command, f"--product={asked}", PHONE)[0] == 1, command
    assert not Order.objects.exists()


# --- the highest price --------------------------------------------------------------------------------------------


def test_the_highest_price_is_what_the_upstream_is_told(upstream: Upstream):
    product = Product.objects.get(name="Telkomsel 10.000")
    buy = ("buy", f"--product={product.code}", "--wait=5", "--json")

    code, out, err = outputs_of(*buy, PHONE, f"--max-price={product.price + 700}")

    order = Order.objects.get()
    body = upstream.control("requests", ref_id=order.ref_id, endpoint="/v1/transaction/create")["requests"][0]["body"]
    assert (code, json.loads(out)["price"], err) == (0, product.price, "")
    assert order.max_price == json.loads(body)["max_price"] == product.price + 700
    assert upstream.ledger(order) == [("debit", -product.price)]
    assert entries_of(order) == [
        ("hold", product.price + 700),
        ("release", product.price + 700),
        ("debit", product.price),
    ]

    # when: it rises upstream up to the highest price
    code, out, _err = outputs_of(*buy, "--destination=081290000019", f"--max-price={product.price + 500}")
    assert (code, json.loads(out)["price"]) == (0, product.price + 500)


def test_the_same_key_gives_its_order_though_the_price_rose(upstream: Upstream):
    product = Product.objects.get(name="Telkomsel 10.000")
    arguments = ("buy", f"--product={product.code}", PHONE, f"--max-price={product.price}", "--wait=5")
    first = run(*arguments, "--key=k-1")
    assert run(*arguments)[0] == 1  # the same on one day needs to be said
    Product.objects.filter(pk=product.pk).update(price=product.price + 1)

    assert run(*arguments, "--key=k-1") == first
    assert run(*arguments, "--again")[0] == 1
    assert upstream.ledger(Order.objects.get()) == [("debit", -product.price)]
    assert run(*arguments[:3], "--wait=5", "--again")[0] == 0


# --- standard error -----------------------------------------------------------------------------------------------


def test_the_log_is_not_on_the_terminal_unless_asked_for(upstream: Upstream, caplog):
    caplog.set_level(logging.ERROR)
    caplog.handler.setLevel(logging.NOTSET)
    upstream.control("account", api_active=False)
    _code, sentence = run("sync_catalogue")
    assert ("API_INACTIVE" in sentence, ".." in sentence) == (True, False)
    assert caplog.records == []

    upstream.control("account", api_active=True)
    UpstreamAccount.objects.update(refused_since=None)
    run("sync_catalogue", "--verbosity=2")
    assert any("upstream call" in str(record.msg) for record in caplog.records)


@pytest.mark.parametrize("refused", [True, False])
def test_what_waits_for_the_upstream_says_why_in_one_sentence(upstream: Upstream, settings, refused):
    product = Product.objects.get(name="Telkomsel 10.000")
    biller = Product.objects.filter(type="postpaid", category__name__startswith="PLN").earliest("pk")
    if refused:
        upstream.control("account", api_active=False)
    else:
        settings.UPSTREAM_BASE_URL = "http://127.0.0.1:9"
        get_client().budget.declare_fresh()
    why = "refuses our account (API_INACTIVE)" if refused else "cannot be reached"

    for arguments, status in (
        (("buy", f"--product={product.code}", PHONE), "queued"),
        (("check_bill", f"--product={biller.code}", "--destination=531290000001"), "pending"),
    ):
        code, out, err = outputs_of(*arguments, "--json")
        assert (code, json.loads(out)["status"]) == (3, status)
        assert why in err
        assert err.count("\n") == 1
