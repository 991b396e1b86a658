"""A shop after three busy days, for tests that open all its pages."""

import datetime as dt
import hashlib
import uuid
from typing import Any

import time_machine
from django.utils import timezone

from alerts.kinds.kind import Reason
from alerts.models import Alert, AlertNotice, Severity
from alerts.services.evaluating import keep_alerts
from audit.services import record
from callbacks.models import Callback, CallbackRefusal, CallbackRefusalCount, CallbackState
from catalogue.models import CatalogueSync
from customers.models import Customer, SavedNumber
from gateway.models import UpstreamAccount
from purchases.events import PRINTED
from purchases.models import Incident, OrderEvent
from purchases.states import ActionReason, Status
from reconciliation import services as reconciliation
from reconciliation.models import Difference, ReconciliationRun
from staff.events import SIGN_IN
from staff.models import User
from staff.roles import create_demo_staff
from testing.factories import make_biller, make_check, make_order, make_payment, make_product
from tests.gateway.helpers import kept_exchange, read_balance
from tests.ledger.helpers import open_books, spend
from tests.reconciliation.helpers import make_difference


def a_busy_day() -> dict[str, Any]:
    """Orders in every status, an incident, callbacks, a fault of the sync, an upstream that is silent."""
    create_demo_staff()
    now = timezone.now()
    with time_machine.travel(now - dt.timedelta(days=3)):
        open_books(9_969_475)
    product = make_product(code="TSEL10")
    make_product(code="OFF", name="Telkomsel 25.000", availability="inactive")
    token_product = make_product(
        code="PLN20",
        name="Token PLN 20.000",
        category="token-pln",
        brand="pln",
        cut_off_start=dt.time(23, 30),
        cut_off_end=dt.time(0, 30),
    )
    make_product(code="BILL", name="PDAM Gresik", category="pdam", brand="pdam", type="postpaid", admin_fee=2_500)
    game = make_product(code="ML86", name="86 Diamonds", category="game", brand="mobile_legends")
    game.brand.name = "Mobile Legends"
    game.brand.save()
    long_ago = now - dt.timedelta(minutes=10)
    orders = {}
    for i, status in enumerate(Status):
        facts: dict[str, Any] = {"sn": "5985080747136515", "price": 10_500} if status == Status.SUCCESS else {}
        orders[status] = make_order(status, product=product, destination=f"0812345678{i:02}", sent_at=long_ago, **facts)
        OrderEvent.objects.create(order=orders[status], to_status=status, source="poll", note="so it was said")
    for i, reason in enumerate(ActionReason):
        make_order(Status.NEEDS_ACTION, product=product, destination=f"0812345679{i:02}", action_reason=reason)
    token = make_order(
        Status.SUCCESS,
        product=token_product,
        destination="12345678901",
        sn="2788-0111-7956-9150-3095/BUDI SANTOSO/R1/900VA/13.6",
    )
    biller = make_biller(code="PDAM")
    bills = {name: make_check(product=biller, destination=f"12345{i}") for i, name in enumerate(Status)}
    for status, check in bills.items():
        facts = {Status.SUCCESS: {"sn": "PAY-1"}, Status.REJECTED: {"error_code": "BILL_ALREADY_PAID"}}.get(status, {})
        make_payment(check, status, **facts)
    more = [{"period": f"{month} 2026", "amount": 50_000, "penalty": 3_000} for month in ("Okt", "Nov")]
    customer = Customer.objects.create(name="Bu Sari", note="Blok C 4")
    number = SavedNumber.objects.create(customer=customer, destination="99990001", product=biller, kind="customer")
    SavedNumber.objects.create(customer=customer, destination="081234567890", kind="phone")
    batch = uuid.uuid4()
    facts = {"product": biller, "batch": batch, "saved_number": number}
    checks = [
        make_check(destination="99990001", details=more, penalty=6_000, total=108_500, **facts),
        make_check("none", destination="99990002", **facts),
        make_check("refusal", destination="99990003", error_code="BILL_NOT_AVAILABLE", message="None.", **facts),
        make_check(destination="99990004", expires_at=now, **facts),
    ]
    Incident.objects.create(
        order=orders[Status.SUCCESS], kind="contradiction", source="callback", detail="failed after success"
    )
    receipt = Callback.objects.create(
        body=b'{"event": "transaction.success", "data": {}}',
        content_hash=hashlib.sha256(b"x").hexdigest(),
        headers={"X-Event": "transaction.success"},
        ref_id=token.ref_id,
        event="transaction.success",
        is_signed=True,
    )
    # The upstream's texts may be long, and without a break.
    endless = Callback.objects.create(
        body=b"x" * 300,
        content_hash=hashlib.sha256(b"y").hexdigest(),
        headers={"X-Event": "e" * 60},
        delivery_id="d" * 100,
        ref_id="R" * 64,
        event="e" * 60,
        result="r" * 300,
        source_address="2001:db8:1111:2222:3333:4444:5555:6666",
        is_signed=False,
        state=CallbackState.MALFORMED,
        repeats=3,
    )
    CallbackRefusalCount.objects.create(day=timezone.localdate(), reason="signature", count=3)
    CallbackRefusal.objects.create(reason="signature", source_address="198.51.100.7", size=77)
    read_balance(9_969_475)
    CatalogueSync.objects.create(result="done", finished_at=now, products=5)
    CatalogueSync.objects.create(result="fault", finished_at=now, fault="other", fault_detail="timeout")
    UpstreamAccount.objects.update_or_create(only=True, defaults={"unreachable_since": now})
    sold = orders[Status.SUCCESS].ref_id
    exchanges = [
        kept_exchange(sold, endpoint="transaction_create", raw={"data": {"ref_id": sold}}, http_status=200),
        kept_exchange(sold, error="Rejected: TRANSACTION_NOT_FOUND", http_status=404, attempt=2, waited_ms=700),
        kept_exchange("", endpoint="products", raw={"bytes": 5, "sha256": "ab" * 32}),
        kept_exchange("", endpoint="balance", error="OutcomeUnknown: timeout", request=None, latency_ms=30_000),
    ]
    for kind in (SIGN_IN, PRINTED):
        record(kind, actor=User.objects.get(username="cashier"), subject=sold, facts={"number": 1})
    return {
        "exchanges": exchanges,
        "orders": orders,
        "token": token,
        "receipts": [receipt, endless],
        "customer": customer,
        "number": number,
        "bills": bills,
        "checks": checks,
        "batch": batch,
        "differences": busy_books(orders[Status.FAILED].ref_id),
    }


def busy_books(ref_id: str) -> list[Difference]:
    """Make entries and differences of every kind, adjustments, top-ups, runs, alerts; `ref_id`: an order to name.

    Returns the differences.
    """
    for days in (3, 2, 1, 0):
        with time_machine.travel(timezone.now() - dt.timedelta(days=days)):
            spend(10_500, refunded=True)
            spend(102_500, kind="bill")
    admin, owner = User.objects.get(username="admin"), User.objects.get(username="owner")
    now = timezone.now()
    span = {"from_at": now - dt.timedelta(minutes=5), "to_at": now}
    named = [{"ref_id": ref_id, "why": "missing_refund"}, {"ref_id": "B-GONE", "why": "double_debit"}]
    differences = [
        make_difference(1_500_000, "topup", **span),
        make_difference(250_000, "topup", **span),
        make_difference(10_500, "double_refund", **span),
        make_difference(-10_500, "missing_refund", candidates=named, **span),
        make_difference(-1, "unexplained_debit", **span),
    ]
    reconciliation.acknowledge_top_up(differences[1], actor=admin, note="BCA, by Sari")
    reconciliation.propose_adjustment(differences[3], actor=owner, reason="asked the upstream")
    reconciliation.propose_adjustment(differences[4], actor=admin, reason="fee of the bank")
    reconciliation.announce_top_up(amount=750_000, actor=admin, note="tomorrow")
    ReconciliationRun.objects.create(
        trigger="beat",
        state="provisional",
        reported=9_000_000,
        expected=9_010_500,
        difference=-10_500,
        blocking=[ref_id],
    )
    keep_alerts("process_silent", [Reason(key="beat", severity=Severity.CRITICAL)])
    keep_alerts("process_silent", [])
    missing = {"difference": differences[4].pk, "amount": -1, "from_at": now.isoformat(), "to_at": now.isoformat()}
    keep_alerts("difference", [Reason(severity=Severity.CRITICAL, facts=missing)])
    unknown = [{"ref_id": f"B-{number}", "amount": 10_500, "since": now.isoformat()} for number in range(4)]
    keep_alerts("order_unknown", [Reason(key=str(facts["ref_id"]), facts=facts) for facts in unknown])
    AlertNotice.objects.create(alert=Alert.objects.open()[0], way="1", service="Telegram", fault="failed", failures=1)
    return differences
