"""A new demo is a shop after a month, made by the services; a shop that has any rows gets none of it."""

import datetime as dt
import re

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.utils import timezone

from approvals.models import Approval
from approvals.services import why_not_approved_by
from audit.models import AuditEvent
from audit.services import verify
from backoffice.demo import live_a_month, month
from bills.models import BillCheck
from catalogue.models import Category, PriceChange, PriceRule, Product
from complaints.models import Complaint, State
from core import clock
from core.clock import demo_time
from credit.models import CreditAccount
from customers.models import Customer, SavedNumber
from drawers.models import Drawer, DrawerDay, Outcome, Payment, Shift
from gateway.models import UpstreamAccount
from ledger.models import ClosedDay, Entry
from ledger.services import books
from purchases.models import Order
from purchases.services.polling import follow
from purchases.states import OPEN, Status
from reconciliation.models import Difference
from reconciliation.services import prove, reconcile
from staff.events import LIMIT_CHANGED
from staff.models import User
from staff.roles import create_demo_staff
from staff.services.independence import HELD_DAYS
from testing.database import empty_tables
from testing.people import make_person
from tests.audit.helpers import seal_all

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def demo(upstream, settings):
    """A new demo: its people, and nothing else."""
    settings.SANDBOX = True
    # The settings of the process that makes the month (`launcher/stack.py`)
    settings.UPSTREAM_ACCOUNT_RATE = settings.UPSTREAM_IP_RATE = settings.UPSTREAM_PRODUCTS_RATE = "100000/minute"
    empty_tables()
    create_demo_staff()
    return upstream


def test_a_new_demo_is_a_shop_after_a_month(demo, settings, tmp_path):  # noqa: PLR0915 - one month for all
    settings.AUDIT_CHECKPOINT_FILE = str(tmp_path / "checkpoints")
    call_command("open_demo")

    # Orders ended in every way that needs no second factor; each is dated in the month, and paid
    orders = Order.objects.all()
    assert {Status(status) for status in orders.values_list("status", flat=True)} == {
        *(Status.SUCCESS, Status.FAILED, Status.REJECTED, Status.CANCELLED, Status.CLOSED),
        *(Status.NEEDS_ACTION, Status.UNKNOWN),
    }
    assert orders.count() > 80
    days = {timezone.localdate(at) for at in orders.values_list("created_at", flat=True)}
    today = timezone.localdate()
    assert days >= {today - dt.timedelta(days=days) for days in range(1, 31)}
    assert all(order.final_at >= order.created_at for order in orders.exclude(status__in=OPEN))
    assert Payment.objects.filter(outcome=Outcome.OWED).count() == 1
    assert {"cash", "qris", "transfer", "credit"} <= set(Payment.objects.values_list("method", flat=True))

    # Margins, and never below the face value that the tile names
    for product in Product.objects.listed().select_related("category"):
        if product.type == "postpaid":
            assert product.fee > 0
            continue
        assert product.sells_for > product.price
        assert not product.sells_for % 500
        face = re.search(r" ([\d.]+)$", product.name)
        if product.category.code in {"pulsa", "token-pln", "e-money"}:
            assert face
            assert product.sells_for >= int(face[1].replace(".", "")), product.name
    assert PriceRule.objects.count() == Category.objects.count()
    assert PriceChange.objects.exclude(price_before=None).count() == 1

    # Two drawers, one of them open; all days but yesterday's are signed by the owner
    assert Drawer.objects.count() == 2
    assert [shift.cashier.username for shift in Shift.objects.filter(closed_at=None)] == ["cashier"]
    assert not User.objects.filter(shifts__isnull=False, last_login=None).exists(), "sold, and never signed in"
    unsigned = DrawerDay.objects.filter(signed_at=None).values_list("day", flat=True)
    assert list(unsigned) == [today - dt.timedelta(days=1)]
    assert {day.signed_by.username for day in DrawerDay.objects.exclude(signed_at=None)} == {"owner"}
    assert set(Shift.objects.exclude(difference=0).exclude(closed_at=None).values_list("difference", flat=True)) == {
        *(-2_000, 1_000, -5_000),
    }

    # Customers with numbers and debts, complaints, an approval, bills due
    assert Customer.objects.count() == 12
    assert not Customer.objects.filter(numbers=None).exists()
    assert SavedNumber.objects.bills().exists()
    assert CreditAccount.objects.filter(oldest_due__lt=today).exists()
    assert CreditAccount.objects.filter(oldest_due__gte=today).exists()
    assert set(Complaint.objects.values_list("state", flat=True)) == {State.ASKED, State.CLOSED}
    assert Approval.objects.open().filter(expires_at__gt=clock.now()).count() == 1

    # The owner, whose tip names it, may approve it, for any hour at which the demo begins
    assert why_not_approved_by(Approval.objects.open().get(), User.objects.get(username="owner")) is None
    changed = AuditEvent.objects.get(kind=LIMIT_CHANGED.key)
    assert timezone.localdate(changed.at) < today - dt.timedelta(days=HELD_DAYS)
    assert BillCheck.objects.filter(answer="bill", order=None).count() == 2  # each is payable for five minutes

    # The books equal the sandbox's, to the rupiah and entry by entry; nothing is unexplained, and all is proved
    ledger = demo.control("/control/ledger")
    reconcile()
    assert books().balance == ledger["balance"]
    assert not Difference.objects.open().exists()
    moved = [row["amount"] for row in ledger["mutations"]]
    kept = Entry.objects.exclude(balance_change=0).order_by("pk").values_list("balance_change", flat=True)
    assert list(kept) == moved
    assert not prove(everything=True).flaw
    assert ClosedDay.objects.count() == 30
    seal_all()
    assert verify().is_sound

    # The first page of the demo has no warning about the past
    assert UpstreamAccount.objects.get().unreachable_since is None

    # Here and in the sandbox the time is the real time again; a second start makes nothing twice
    assert abs(timezone.now() - dt.datetime.now(dt.UTC)) < dt.timedelta(seconds=1)
    assert demo.control("/control/time", now=None)
    count = orders.count()
    call_command("open_demo")
    assert orders.count() == count
    assert Drawer.objects.count() == 2


def test_a_demo_that_began_empty_stays_so(demo):
    call_command("sync_catalogue", "--if-empty")
    call_command("open_demo")

    assert Product.objects.exists()
    for model in (Order, Drawer, PriceRule, Customer, Entry, Complaint, Approval):
        assert not model.objects.exists()


def test_a_month_that_is_cut_off_leaves_true_books(demo, monkeypatch):
    calls = []

    def cut_off(*args, **facts):
        calls.append(args)
        if len(calls) == 10:
            raise KeyboardInterrupt
        return real(*args, **facts)

    real = month.poll
    monkeypatch.setattr(month, "poll", cut_off)
    with pytest.raises(KeyboardInterrupt):
        call_command("open_demo")
    count = Order.objects.count()
    call_command("open_demo")

    assert Order.objects.count() == count
    cut = Order.objects.get(status=Status.PENDING)
    assert follow(
        cut, seconds=60
    ).is_final  # the sandbox may end it, and give its money back, while the books are compared
    reconcile()
    assert books().balance == demo.control("/control/ledger")["balance"]
    assert not Difference.objects.open().exists()
    assert not prove(everything=True).flaw


def test_with_a_real_upstream_no_time_moves_and_nothing_is_made(upstream, settings):
    settings.SANDBOX = False
    empty_tables()
    make_person("owner", username="owner")

    with pytest.raises(CommandError):
        call_command("open_demo")
    with pytest.raises(ImproperlyConfigured), demo_time():
        pass
    assert not live_a_month()

    assert not Drawer.objects.exists()
    assert not Product.objects.exists()


def test_demo_time_goes_forward_alone_and_ends(settings):
    settings.SANDBOX = True
    real = timezone.now()
    with demo_time() as move:
        move(real - dt.timedelta(days=30))
        assert timezone.now() - real < dt.timedelta(days=-29)
        assert clock.now() - real < dt.timedelta(days=-29)
        assert Order._meta.get_field("created_at").get_default() < real - dt.timedelta(days=29)
        with pytest.raises(ValueError, match="forward"):
            move(real - dt.timedelta(days=31))

    assert timezone.now() >= real
