"""A restored shop polls orders that may have been sent since the backup, and buys nothing before a person opens it."""

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from audit.models import AuditEvent
from backoffice.doctor import examine
from catalogue.models import Product
from gateway.services import open_restored, upstream_account
from ledger.models import Entry
from purchases.errors import ActionRefused
from purchases.models import Order
from purchases.services import cancel_order, send_again, submit
from purchases.services.decisions import Decision, apply_verdict
from purchases.services.polling import follow
from purchases.services.sending import _request, claim
from purchases.states import ActionReason, Status
from staff.models import User
from tests.alerts.helpers import open_alerts
from tests.conftest import Upstream
from tests.core.helpers import run
from tests.purchases.magic import place
from upstream.budget import CallClass
from upstream.client import get_client

CREATE, STATUS = "/v1/transaction/create", "/v1/transaction/status"
INTERACTIVE = CallClass.INTERACTIVE


@pytest.fixture(autouse=True)
def _no_journal(settings: Any, tmp_path: Path) -> None:
    settings.SENT_FOLDER = tmp_path / "sent"


@pytest.fixture
def admin() -> User:
    return User.objects.create_superuser("admin")


def restore() -> None:
    """Mark the database as restored, as `./run restore` does at the end."""
    call_command("hold_restored", to=dt.datetime.now(dt.UTC) - dt.timedelta(minutes=1))


def test_a_queued_order_of_a_restored_shop_is_polled_and_not_sent(upstream: Upstream):
    # given: an order that the upstream has, and that is queued in the restored database
    order = place(1)
    upstream_has(order)

    restore()
    submit(order.pk, call_class=INTERACTIVE)

    order.refresh_from_db()
    assert order.status == Status.UNKNOWN
    order = follow(order, seconds=10)
    assert order.status == Status.SUCCESS
    assert upstream.ledger(order) == [("debit", -order.price)]
    assert upstream.calls(order, "create") == [CREATE]
    kinds = Entry.objects.filter(ref_id=order.ref_id).order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == ["hold", "release", "debit"]


def upstream_has(order: Order) -> None:
    """Send the order without any trace of it in our database."""
    get_client().send(_request(order), get_client().reserve(_request(order).endpoint, call_class=INTERACTIVE))


def test_a_new_order_waits_until_a_person_opens_the_shop(upstream: Upstream, admin):
    restore()
    order = place(1)

    submit(order.pk, call_class=INTERACTIVE)
    assert claim(order.pk) is None

    order.refresh_from_db()
    assert (order.status, order.attempt, upstream.calls(order)) == (Status.QUEUED, 0, [])

    open_restored(actor=admin)
    open_restored(actor=admin)
    submit(order.pk, call_class=INTERACTIVE)

    assert upstream.calls(order, "create") == [CREATE]
    assert AuditEvent.objects.filter(kind="opened_after_restore", person=admin).count() == 1
    assert AuditEvent.objects.filter(kind="restored").count() == 1
    assert not upstream_account().is_held


def test_the_operator_sees_that_a_shop_is_not_open_yet(upstream: Upstream, admin, capsys):
    product = Product.objects.get(name="Telkomsel 10.000")
    restore()

    code, _printed = run("buy", f"--product={product.code}", "--destination=081290000001")

    assert (code, upstream.calls(Order.objects.get())) == (3, [])
    assert "restored" in capsys.readouterr().err
    assert ("restored", "") in open_alerts()
    assert [finding.verdict for finding in examine() if finding.subject == "restored"] == ["look"]

    open_restored(actor=admin)

    assert ("restored", "") not in open_alerts()
    assert [finding for finding in examine() if finding.subject == "restored"] == []


@pytest.mark.parametrize("step", [send_again, cancel_order])
def test_a_person_ends_or_repeats_nothing_that_was_sent_in_the_lost_time(upstream: Upstream, admin, step):
    # given: an order that waits for a person here, although the upstream has it
    order = place(1)
    upstream_has(order)
    restored_as(order, ActionReason.BALANCE_SHORT)

    with pytest.raises(ActionRefused):
        step(order, actor=admin)

    order = follow(order, seconds=10)
    assert order.status == Status.SUCCESS
    assert upstream.calls(order, "create") == [CREATE]
    assert upstream.ledger(order) == [("debit", -order.price)]


def test_what_the_upstream_never_had_is_sent_again_once_the_shop_is_open(upstream: Upstream, admin):
    order = place(1)
    restored_as(order, ActionReason.BALANCE_SHORT)
    open_restored(actor=admin)

    send_again(order, actor=admin)
    submit(order.pk, call_class=INTERACTIVE)

    assert upstream.calls(order, "create") == [CREATE]
    assert upstream.calls(order, "status")[0] == STATUS


def restored_as(order: Order, reason: ActionReason) -> None:
    """Restore to a moment at which this order needed action."""
    claimed = claim(order.pk)
    assert claimed
    needs = Decision(status=Status.NEEDS_ACTION, source="submit", action_reason=reason, uncharged_no=claimed.number)
    apply_verdict(order.pk, needs, attempt=claimed.order.attempt)
    restore()
    order.refresh_from_db()
