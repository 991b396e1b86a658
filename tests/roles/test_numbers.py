"""Only some people see customers' full numbers: every page, over rows of every kind, is searched for such numbers."""

import io
import json
import re
import uuid
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from django.http.request import HttpHeaders
from django.urls import NoReverseMatch, get_resolver, reverse

from approvals.events import APPROVED
from audit.services import record
from bank.models import BankAccount, BankFile, BankRow
from batches.models import Batch, BatchRow
from bills.services import pay_bill
from branches.models import FIRST
from callbacks.models import Callback
from credit.models import CreditAccount
from credit.services import bring_forward
from customers.models import Customer, SavedNumber
from drawers.models import DrawerEntry
from drawers.services import close_shift, take_credit_payment
from exports.events import EXPORT_MADE
from purchases.errors import NeedsApproval
from purchases.models import Incident, Order, OrderEvent, Verdict
from purchases.models.receipts import Paper
from purchases.services import ask_for_approval
from purchases.services.receipts import print_receipt, print_receipts
from purchases.states import Status
from testing.factories import make_biller, make_check, make_order, make_payment, make_product
from testing.people import Browser, browser_of, make_person
from tests.approvals.helpers import cashier
from tests.drawers.helpers import begin, pieces_of
from tests.gateway.helpers import kept_exchange
from tests.reconciliation.helpers import make_difference
from tests.roles.helpers import PART, PHONE, asked, opened_by, routes, who_sees_none

pytestmark = pytest.mark.django_db

METER = "98765012349"
# Parts of the numbers, as they stand in a page after all grouping signs are removed.
TRACES = ("98765432", "765012")


def whole_in(answer: Any) -> bool:
    """Whether an answer contains a whole number, in any notation."""
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    if content.startswith(b"PK"):  # a workbook
        with zipfile.ZipFile(io.BytesIO(content)) as workbook:
            content = b"".join(workbook.read(name) for name in workbook.namelist())
    bare = re.sub(r"[\s.\-()]|%20|\+|&nbsp;", "", content.decode())
    return any(trace in bare for trace in TRACES)


def make_batch(order: Order) -> Batch:
    """A batch with a wrong row and a row that became this order; every text in it has the number."""
    batch = Batch.objects.create(branch_id=FIRST, sha256="0" * 64, name="staff.csv", created_by=order.placed_by)
    written = {"batch": batch, "name": f"S {PHONE}", "note": f"for {PHONE}", "reference": PHONE, "typed": PHONE}
    wrong = {"state": "wrong", "fault": "unknown_product", "what": f"10 {PHONE}", "said": f"10 {PHONE}"}
    BatchRow.objects.create(**written, **wrong, line=1, ref_id="B1")
    prices = {"destination": PHONE, "max_price": order.max_price, "selling_price": order.max_price}
    placed = {"state": "placed", "product": order.product, "order": order}
    BatchRow.objects.create(**written, **prices, **placed, line=2, ref_id=order.ref_id)
    return batch


@pytest.fixture
def shop() -> dict[str, Any]:
    """Rows of every kind with a customer's number, and the pages that name such a row."""
    seller = make_person("cashier", username="seller")
    order = make_order(
        Status.SUCCESS, destination=PHONE, sn=f"SN/{PHONE}", trx_id="TRX1", message=f"{PHONE} was filled"
    )
    failed = make_order(Status.FAILED, destination=PHONE, product=order.product, message=f"no {PHONE}")
    body = {"data": {"destination": PHONE, "ref_id": order.ref_id}, "message": f"6{PHONE[1:]} is done"}
    text = json.dumps(body)
    OrderEvent.objects.create(order=failed, to_status="failed", source="poll", note=f"62{PHONE[1:]}", raw=body)
    for one in (order, failed):
        facts = {"kind": "mismatch", "source": "poll", "detail": f"destination {PHONE}", "raw": body}
        Incident.objects.create(order=one, **facts)
    verdict = {"outcome": "failed", "evidence": f"they said {PHONE}", "reason": PHONE}
    Verdict.objects.create(order=order, order_status="success", proposed_by=seller, **verdict)
    print_receipt(order, paper=Paper.MM58, printed_by=seller)

    biller = make_biller()
    check = make_check(destination=METER, product=biller, message=METER)
    refused = make_check("refusal", destination=METER, product=biller, error_code="BILL_NOT_FOUND", message=METER)
    batch = uuid.uuid4()
    payment = make_payment(make_check(destination=METER, batch=batch), Status.SUCCESS, sn="P1")
    [_printed, on_sheet] = print_receipts([[order, payment]], paper=Paper.A5, printed_by=seller)
    customer = Customer.objects.create(name="Sari", note=f"home {PHONE}")
    numbers = [
        SavedNumber.objects.create(customer=customer, destination=PHONE, kind="phone", note=f"also {METER}"),
        SavedNumber.objects.create(customer=customer, destination=METER, kind="customer", product=biller),
    ]
    make_check(destination=METER, product=biller, batch=batch, saved_number=numbers[1])

    sari = cashier(own_approval_above=10_000)
    approval = asked(make_product(price=20_000), sari)
    waits = make_check(destination=METER)
    with pytest.raises(NeedsApproval) as need:
        pay_bill(waits, amount=waits.total, paid_by=sari)
    bill_approval = ask_for_approval(need.value, actor=sari)
    record(EXPORT_MADE, actor=seller, subject="statement", facts={"query": f"q={PHONE}&since=2026-11-22"})
    record(APPROVED, actor=seller, subject="R1", before={"destination": PHONE}, facts={"words": f"for {PHONE}"})

    exchanges = [
        kept_exchange(order.ref_id, endpoint="transaction_create", request={"destination": PHONE}, raw=body),
        kept_exchange(order.ref_id, request={}, raw={"text": f"<p>{PHONE}</p>"}),
        kept_exchange(check.ref_id, endpoint="bill_inquiry", request={"destination": METER}, raw={"text": text[:30]}),
        kept_exchange(
            "GONE", endpoint="bill_inquiry", request={"destination": METER}, error="Rejected: BILL_NOT_FOUND"
        ),
    ]
    callbacks = [
        Callback.objects.create(
            body=content.encode(), content_hash=f"{n:064}", headers={}, ref_id=ref_id, event="e", is_signed=True
        )
        for n, (content, ref_id) in enumerate(
            [(text, order.ref_id), (text, "GONE"), (f"{PHONE}, {text[:30]}", order.ref_id)]
        )
    ]
    shift = begin(make_person("cashier", username="drawer"), cash=100_000)
    for sold in (order, failed):
        facts = {"shift": shift, "kind": "refund", "amount": -10_500, "person": shift.cashier, "at": shift.opened_at}
        facts |= {"method": "qris", "is_cash": False, "reason": f"owed by {PHONE}"}
        DrawerEntry.objects.create(ref_id=sold.ref_id, **facts)
    owing = CreditAccount.objects.create(customer=customer, cap=90_000, due_days=7)
    bring_forward(owing, amount=50_000, reason=f"owed by {PHONE}", actor=make_person("administrator", username="boss"))
    paid = take_credit_payment(owing, amount=5_000, method="cash", actor=shift.cashier, note=f"by {PHONE}")
    closed = begin(make_person("cashier", username="gone"), cash=100_000)
    day = close_shift(closed, pieces=pieces_of(90_000), actor=closed.cashier, reason=PHONE).day.day
    difference = make_difference(-5, candidates=[{"ref_id": order.ref_id, "why": "double_debit"}])
    account = BankAccount.objects.create(name="BCA 1")
    file = BankFile.objects.create(account=account, name="mutasi.csv", read_at=shift.opened_at, read_by=seller)
    row = {"account": account, "file": file, "day": day, "nth": 1, "decided_by": seller, "decided_at": file.read_at}
    of_bank = BankRow.objects.create(
        **row, amount=1, text=f"TRSF {PHONE}", reference=f"of {PHONE}", reason=f"of {PHONE}"
    )
    table = make_batch(order)
    orders = [order, failed, payment]
    pages = {
        **{name: [{"ref_id": one.ref_id} for one in orders] for name in ("order_detail", "order_live", "arrived_live")},
        **{name: [{"ref_id": one.ref_id} for one in orders] for name in ("order_story", "order_story_file")},
        "order_panel": [{"ref_id": one.ref_id} for one in orders],
        "order_number": [{"ref_id": order.ref_id}],
        "bill_number": [{"ref_id": check.ref_id}],
        "order_receipt": [{"ref_id": one.ref_id} for one in (order, payment)],
        "order_receipt_print": [{"ref_id": order.ref_id, "number": 1}],
        "order_story_whole": [{"ref_id": order.ref_id}],
        **{name: [{"ref_id": one.ref_id} for one in (check, refused)] for name in ("bill_detail", "bill_live")},
        **{name: [{"ref_id": one.ref_id} for one in (check, refused)] for name in ("counter_bill", "counter_bill_now")},
        "counter_message": [{"ref_id": one.ref_id} for one in orders],
        "counter_pay": [{"ref_id": check.ref_id}],
        **{name: [{"batch": batch}] for name in ("counter_batch", "counter_batch_live", "counter_batch_review")},
        **{name: [{"batch": batch}] for name in ("counter_batch_pay", "bill_batch_receipt")},
        "receipt_sheet": [{"sheet": on_sheet.sheet}],
        "kind_edit": [{"key": f"category:{biller.category_id}"}],
        **{
            name: [{"pk": customer.pk}]
            for name in ("customer_detail", "customer_edit", "customer_delete", "number_add", "credit_account")
        },
        "customer_merge": [{"pk": customer.pk}],
        "number_edit": [{"pk": number.pk} for number in numbers],
        "due_follow": [{"pk": numbers[1].pk}],
        **{
            name: [{"pk": one.pk} for one in (approval, bill_approval)]
            for name in ("approval_detail", "approval_live", "counter_approve")
        },
        "exchange_detail": [{"pk": one.pk} for one in exchanges],
        "callback_detail": [{"pk": one.pk} for one in callbacks],
        "difference_detail": [{"pk": difference.pk}],
        "closing": [{"day": "2026-11-01"}],
        **{
            name: [{"pk": one.pk} for one in (shift, closed)]
            for name in ("shift_detail", "shift_close", "shift_correct", "shift_csv")
        },
        **{name: [{"day": day}] for name in ("drawer_day", "drawer_day_csv", "drawer_day_sign")},
        **{name: [{"pk": paid.pk}] for name in ("credit_undo", "credit_receipt")},
        **{name: [{"pk": seller.pk}] for name in ("staff_detail", "earnings_beside")},
        "bank_row": [{"pk": of_bank.pk}],
        **{name: [{"pk": table.pk}] for name in ("batch_detail", "batch_live")},
        "batch_row": [{"pk": table.pk, "line": line} for line in (1, 2)],
        "role_detail": [{"name": "cashier"}],
    }
    return {"pages": pages, "order": order, "check": check, "customer": customer}


# These addresses show nothing of a customer, or need a key that the rows above do not have. Put a new address with a
# key into the pages above, with a row that has a number, if it can have one.
ELSEWHERE = {"run_detail", "till_detail", "till_tiles", "export_download", "shop_branch", "shop_logo"}


def addresses(shop: dict[str, Any], role: str) -> Iterator[str]:
    """Every address that is served to this role; an address with a key once for each row with such a key."""
    opened = opened_by(role)
    for name, _example in routes(get_resolver().url_patterns):
        if name not in opened:
            continue
        try:
            yield reverse(name)
        except NoReverseMatch:  # it takes a key
            yield from (reverse(name, kwargs=keys) for keys in shop["pages"].get(name, []))


def keyed() -> set[str]:
    """The names of the addresses with a key that answer a GET."""
    owner = browser_of("admin", username="anybody")
    found = set()
    for name, example in routes(get_resolver().url_patterns):
        try:
            reverse(name)
        except NoReverseMatch:  # it takes a key
            if owner.get(example).status_code != 405:
                found.add(name)
    return found


@pytest.mark.usefixtures("_undrawn")
def test_every_address_with_a_key_is_walked(shop):
    assert keyed() - ELSEWHERE <= set(shop["pages"]) | {"order_act"}


@pytest.fixture
def read_headers(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names of the headers that the app has read."""
    names: set[str] = set()
    read = HttpHeaders.__getitem__
    monkeypatch.setattr(HttpHeaders, "__getitem__", lambda headers, name: (names.add(name), read(headers, name))[1])
    return names


def test_without_the_right_no_page_shows_a_whole_number(shop, read_headers):
    """Two roles lack the right; the third opens every page of a cashier. The last two also ask for parts of pages."""
    for who in ("viewer", "auditor", "administrator"):
        browser, shown, parted = who_sees_none(who), [], 0
        has_parts = who != "viewer"
        for path in addresses(shop, who):
            if "logout" in path:
                continue
            read_headers.clear()
            if whole_in(browser.get(path)):
                shown.append(path)
            if has_parts and PART in read_headers:  # else the same page would come again
                parted += 1
                if whole_in(browser.get(path, headers={PART: "true"})):
                    shown.append(f"part of {path}")

        assert shown == [], who
        assert (parted > 20) is has_parts, who


def test_with_the_right_the_pages_show_it(shop):
    order, check = shop["order"], shop["check"]
    browser = browser_of("cashier")

    paths = [f"/orders/{order.ref_id}/", f"/bills/{check.ref_id}/", "/orders/", "/bills/", "/customers/?q=sari"]
    paths += [f"/customers/{shop['customer'].pk}/", f"/orders/{order.ref_id}/receipt/"]

    assert [path for path in paths if not whole_in(browser.get(path))] == []
    assert 'id="show-number"' not in browser.get(paths[0]).content.decode()


def test_without_the_right_a_bill_that_cannot_be_checked_again_shows_no_number():
    check = make_check(destination=METER, product=make_biller(is_listed=False))

    answer = who_sees_none("supervisor").post(f"/counter/bills/{check.ref_id}/again/", headers={PART: "true"})

    assert answer.status_code == 200
    assert not whole_in(answer)


def test_without_the_right_only_a_whole_number_finds(shop):
    viewer, browser = browser_of("viewer"), who_sees_none("supervisor")
    for typed, finds in [
        *((PHONE, True), (f"62{PHONE[1:]}", True), (PHONE[:9], False), (PHONE[-5:], False)),
        *((f"SN/{PHONE}", True), (f"SN/{PHONE[:9]}", False), ("S", False)),  # the SN names it
    ]:
        page = viewer.get("/orders/", {"q": typed})

        assert bool(page.context["table"].rows) is finds, typed

    # in the note of a customer
    link, texts = f"/customers/{shop['customer'].pk}/", (PHONE[:7], METER[:7], "home", "sari")
    for page in ("/customers/", "/find/", "/credit/"):
        found = [text for text in texts if link in browser.get(page, {"q": text}).content.decode()]
        assert found == ["home", "sari"], page

    # in the reference of a batch's row
    for typed, count in ((PHONE[2:9], 0), (f"S {PHONE[:6]}", 0), (PHONE, 2), (f"s {PHONE}", 2)):
        assert len(browser.get("/batches/rows/", {"q": typed}).context["table"].rows) == count, typed


def endings_in(answer: Any) -> list[str]:
    """The last digits of the numbers from 8765 on, in the order of the page."""
    return list(dict.fromkeys(re.findall(r"8765[\d•]{5}(00\d)", re.sub(r"[\s.\-]", "", answer.content.decode()))))


def test_without_the_right_the_order_of_numbers_gives_no_digit_away():
    # given: a customer's numbers, the largest saved first
    customer, biller = Customer.objects.create(name="Bu Rina"), make_biller()
    for destination in ("876598700001", "876598600002", "876598500003"):
        SavedNumber.objects.create(customer=customer, destination=destination, product=biller, kind="customer")

    # when
    def pages(browser: Browser) -> list[list[str]]:
        batch = browser.post(f"/counter/batch/customer/{customer.pk}/").url
        return [endings_in(browser.get(page)) for page in (f"/customers/{customer.pk}/", "/find/?q=bu+rina", batch)]

    # then
    assert pages(who_sees_none("supervisor")) == [["001", "002", "003"], ["001", "002"], ["001", "002", "003"]]
    assert pages(browser_of("cashier")) == [["003", "002", "001"], ["003", "002"], ["003", "002", "001"]]
