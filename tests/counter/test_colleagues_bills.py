"""If a colleague's payment of a bill needs action, the counter takes no cash and gives no change a second time."""

import datetime as dt

import pytest
from django.utils import timezone

from bills.models import BillCheck
from drawers.models import Payment
from gateway.models import Exchange
from purchases.states import ActionReason, Status
from staff.models import User
from testing.factories import entries_of, make_check, make_payment
from testing.people import make_person
from tests.bills.helpers import at_counter
from tests.core.helpers import codes, has_id, hidden, words_at

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


def held_of_ani(check):
    """A payment that a colleague has taken with Rp150.000 in cash, and that needs action."""
    before = timezone.now() - dt.timedelta(seconds=20)
    BillCheck.objects.filter(pk=check.pk).update(answered_at=before)
    sent_at, ani = before + dt.timedelta(seconds=10), make_person("cashier", username="ani")
    facts = {"action_reason": ActionReason.BALANCE_SHORT, "sent_at": sent_at, "placed_by": ani}
    order = make_payment(check, Status.NEEDS_ACTION, next_poll_at=None, **facts)
    Payment.objects.filter(pk=order.payment_id).update(cash_given=150_000)
    return order


def assert_anis(order, status, entries):
    """Assert that it is still the colleague's sale, with that cash, and nothing was sent."""
    order.refresh_from_db()
    assert (order.status, order.placed_by.username) == (status, "ani")
    assert list(Payment.objects.values_list("seller__username", "cash_given")) == [("ani", 150_000)]
    assert entries_of(order) == entries
    assert not Exchange.objects.filter(ref_id=order.ref_id).exists()


def test_given_a_colleagues_held_payment_then_new_cash_is_refused(cashier):
    # given: the panel shows a bill to pay; a colleague pays it meanwhile
    check = make_check()
    form = hidden(at_counter(cashier, check)) | {"paid_by": "cash", "cash_given": "110000"}
    order = held_of_ani(check)

    refused = cashier.post(f"/counter/bills/{check.ref_id}/pay/", form, headers=HTMX)

    assert codes(refused) == {"OpenDuplicate:needs_action"}
    assert_anis(order, "needs_action", [])


def test_given_a_held_payment_then_a_colleague_reads_who_took_it(cashier):
    check = make_check()
    order = held_of_ani(check)
    said = at_counter(cashier, check)
    cashier.force_login(User.objects.get(username="ani"))
    own = at_counter(cashier, check)

    assert [has_id(panel, "counter-pay") for panel in (said, own)] == [True, True]
    assert [has_id(panel, "taken-by-colleague") for panel in (said, own)] == [True, False]
    for fact in ("ani", "Rp102.500"):
        assert fact in words_at(said, 'id="taken-by-colleague"')
    assert_anis(order, "needs_action", [])


def test_given_a_colleagues_payment_sent_again_then_no_change_is_due(cashier):
    check = make_check()
    order = held_of_ani(check)

    sent = cashier.post(f"/counter/bills/{check.ref_id}/pay/", hidden(at_counter(cashier, check)), headers=HTMX)

    assert "data-change" not in sent.content.decode()
    assert_anis(order, "queued", [("hold", 102_500)])
