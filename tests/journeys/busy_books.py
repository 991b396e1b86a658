"""Books that have lived for three days, for looking at every page of them."""

import datetime as dt

import time_machine
from django.utils import timezone

from balance import services
from balance.models import Alert, AlertNotice, Difference, ReconciliationRun
from balance.services.alerts import Reason, keep_alerts
from staff.models import User
from tests.pages.books import open_books, spend


def busy_books(ref_id: str) -> list[Difference]:
    """Entries of every kind, differences of every sort, adjustments, top-ups, runs, alerts; `ref_id`: an order to name.

    Returns the differences.
    """
    for days in (3, 2, 1, 0):
        with time_machine.travel(timezone.now() - dt.timedelta(days=days)):
            if days == 3:
                open_books(9_969_475)
            spend(10_500, refunded=True)
            spend(102_500, kind="bill")
    admin, auditor = User.objects.get(username="admin"), User.objects.get(username="auditor")
    now = timezone.now()
    span = {"from_at": now - dt.timedelta(minutes=5), "to_at": now}
    named = [{"ref_id": ref_id, "why": "missing_refund"}, {"ref_id": "B-GONE", "why": "double_debit"}]
    found = [
        Difference.objects.create(amount=1_500_000, label="topup", **span),
        Difference.objects.create(amount=250_000, label="topup", **span),
        Difference.objects.create(amount=10_500, label="double_refund", **span),
        Difference.objects.create(amount=-10_500, label="missing_refund", candidates=named, **span),
        Difference.objects.create(amount=-1, label="unexplained_debit", **span),
    ]
    services.acknowledge_top_up(found[1], actor=admin, note="BCA, by Sari")
    services.propose_adjustment(found[3], actor=auditor, reason="asked the upstream")
    services.propose_adjustment(found[4], actor=admin, reason="fee of the bank")
    services.announce_top_up(amount=750_000, actor=admin, note="tomorrow")
    ReconciliationRun.objects.create(
        trigger="beat",
        state="provisional",
        reported=9_000_000,
        expected=9_010_500,
        difference=-10_500,
        blocking=[ref_id],
    )
    keep_alerts(Alert.Kind.PROCESS_SILENT, [Reason(key="beat", severity=Alert.Severity.CRITICAL)])
    keep_alerts(Alert.Kind.PROCESS_SILENT, [])
    missing = {"difference": found[4].pk, "amount": -1, "from_at": now.isoformat(), "to_at": now.isoformat()}
    keep_alerts(Alert.Kind.UNEXPLAINED_DIFFERENCE, [Reason(severity=Alert.Severity.CRITICAL, facts=missing)])
    unknown = [{"ref_id": f"B-{number}", "amount": 10_500, "since": now.isoformat()} for number in range(4)]
    keep_alerts(Alert.Kind.ORDER_UNKNOWN, [Reason(key=str(facts["ref_id"]), facts=facts) for facts in unknown])
    AlertNotice.objects.create(
        alert=Alert.objects.open()[0], channel="email", fault="ConnectionRefusedError", failures=1
    )
    return found
