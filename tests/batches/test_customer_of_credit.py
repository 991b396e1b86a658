"""A batch on a customer's tab, when the customer is merged with another entry or is to be deleted."""

from functools import partial

import pytest
from django.db import transaction

from approvals.models import Approval, ApprovalState, Content
from batches.models import Batch
from batches.services import cancel, pause, placing, release, resume, seal_of
from batches.services.acts import BatchAct
from batches.services.releasing import lock_batch
from batches.states import BatchState
from credit.errors import CreditRefused
from credit.services import bring_forward
from customers.errors import SaleAgreed
from customers.models import Customer
from customers.services import erase
from drawers.services import PaymentFacts, merge_customers
from purchases.models import Order
from staff.models import User
from testing.orders import Meanwhile
from testing.people import browser_of, make_person
from tests.approvals.helpers import approve, approver
from tests.batches.helpers import checked, rows_of, send_all, supervisor
from tests.conftest import Upstream
from tests.core.helpers import has_id
from tests.credit.helpers import account_of, give_credit, owed_by, refused

pytestmark = pytest.mark.django_db(transaction=True)

TWO = "081290000001;10;Sari\n081290000102;20;Ani\n"


def on_credit(customer: Customer) -> Batch:
    """A batch of two rows that is released on this customer's tab."""
    batch = checked(TWO)
    release(batch, actor=supervisor(), seal=seal_of(batch), payment=PaymentFacts(method="credit", customer=customer))
    batch.refresh_from_db()
    return batch


def place_one(batch: Batch) -> None:
    """Place the next row, as a worker does."""
    assert placing._place_next(batch.pk)


def two_who_owe() -> tuple[Customer, Customer]:
    """The one who stays in a merge, with a debt of Rp5.000, and the one who goes."""
    stays, goes = give_credit("Bu Sari"), give_credit("Sari Warung")
    supervisor()
    bring_forward(account_of(stays), amount=5_000, reason="book", actor=make_person("admin"))
    return stays, goes


def merge(stays: Customer, goes: Customer) -> None:
    kept = merge_customers(stays, goes, name="Bu Sari", note="", actor=supervisor())
    assert kept.pk == stays.pk


@pytest.mark.parametrize("is_paused", [False, True])
def test_after_a_merge_the_next_rows_are_owed_by_the_one_who_stays(upstream: Upstream, is_paused):
    stays, goes = two_who_owe()
    batch = on_credit(goes)
    place_one(batch)
    if is_paused:
        pause(batch, actor=supervisor())

    merge(stays, goes)
    if is_paused:
        resume(batch, actor=supervisor())
    send_all(batch)

    assert (batch.state, batch.customer) == (BatchState.ENDED, stays)
    first, second = (row.order for row in rows_of(batch))
    assert first
    assert second
    assert [*account_of(stays).entries.order_by("pk").values_list("kind", "amount", "ref_id")] == [
        ("brought", 5_000, ""),
        ("moved", first.customer_pays, first.ref_id),
        ("sale", second.customer_pays, second.ref_id),
    ]
    assert owed_by(stays) == 5_000 + first.customer_pays + second.customer_pays


def test_a_merge_waits_for_the_worker_that_places_the_next_row(upstream: Upstream):
    stays, goes = two_who_owe()
    batch = on_credit(goes)
    key = rows_of(batch)[0].pk

    # given: a worker holds the batch, and needs the account next
    with transaction.atomic():
        lock_batch(batch.pk)
        merging = Meanwhile(partial(merge, stays, goes))
        assert merging.is_blocked_by_us()
        assert placing._place_row(batch.pk, key, is_sent=False)
    merging.end()

    batch.refresh_from_db()
    order = Order.objects.get()
    assert (batch.customer, order.payment.debt and order.payment.debt.account) == (stays, account_of(stays))
    assert owed_by(stays) == 5_000 + order.customer_pays


def test_a_worker_waits_for_the_merge_and_sells_to_the_one_who_stays(upstream: Upstream):
    stays, goes = two_who_owe()
    batch = on_credit(goes)

    with transaction.atomic():
        merge(stays, goes)
        worker = Meanwhile(partial(place_one, batch))
        assert worker.is_blocked_by_us()
    worker.end()

    batch.refresh_from_db()
    assert (batch.state, batch.customer) == (BatchState.RUNNING, stays)
    assert owed_by(stays) == 5_000 + Order.objects.get().customer_pays


def test_a_merge_waits_for_a_release_and_takes_its_batch_along(upstream: Upstream):
    stays, goes = two_who_owe()

    with transaction.atomic():
        batch = on_credit(goes)
        merging = Meanwhile(partial(merge, stays, goes))
        assert merging.is_blocked_by_us()
    merging.end()

    batch.refresh_from_db()
    assert (batch.state, batch.customer) == (BatchState.RUNNING, stays)


def asked_for(customer: Customer) -> tuple[Batch, Approval]:
    """A batch on this customer's tab, whose release waits for a second person."""
    seller = supervisor()
    User.objects.filter(pk=seller.pk).update(own_approval_above=15_000)
    batch, on_tab = checked(TWO), PaymentFacts(method="credit", customer=customer)
    approval = release(
        batch, actor=User.objects.get(pk=seller.pk), seal=seal_of(batch), payment=on_tab, reason="Staff credit"
    )
    assert approval
    return batch, approval


def test_a_merge_waits_for_an_approved_release_and_takes_its_batch_along(upstream: Upstream):
    (stays, goes), second = two_who_owe(), approver()
    batch, approval = asked_for(goes)

    with transaction.atomic():
        approve(approval, second)
        merging = Meanwhile(partial(merge, stays, goes))
        assert merging.is_blocked_by_us()
    merging.end()

    batch.refresh_from_db()
    assert (batch.state, batch.customer) == (BatchState.RUNNING, stays)


def test_approval_starts_nothing_if_the_customer_goes_meanwhile(upstream: Upstream, monkeypatch):
    (stays, goes), second = two_who_owe(), approver()
    batch, approval = asked_for(goes)
    content_now = BatchAct.content_now

    def read_then_merge(act: BatchAct, approval: Approval) -> Content:
        """The content with the customer, whom another connection merges before the batch starts."""
        content = content_now(act, approval)
        Meanwhile(partial(merge, stays, goes)).end()
        return content

    with monkeypatch.context() as patched:
        patched.setattr(BatchAct, "content_now", read_then_merge)
        with refused("no_customer"):
            approve(approval, second)

    batch.refresh_from_db()
    approval.refresh_from_db()
    assert (batch.state, batch.customer, approval.state) == (BatchState.CHECKED, None, ApprovalState.ASKED)
    assert not Order.objects.exists()
    assert owed_by(stays) == 5_000


def test_a_release_to_a_customer_who_is_merged_at_that_moment_is_refused(upstream: Upstream):
    stays, goes = two_who_owe()
    batch = checked(TWO)
    on_tab = PaymentFacts(method="credit", customer=goes)
    step = partial(release, batch, actor=supervisor(), seal=seal_of(batch), payment=on_tab)

    with transaction.atomic():
        merge(stays, goes)
        releasing = Meanwhile(step)
        assert releasing.is_blocked_by_us()
    with pytest.raises(CreditRefused):
        releasing.end()

    batch.refresh_from_db()
    assert (batch.state, batch.customer) == (BatchState.CHECKED, None)


def test_an_erasure_waits_for_a_release_and_is_refused(upstream: Upstream):
    customer, admin, _seller = give_credit(), make_person("admin"), supervisor()

    with transaction.atomic():
        batch = on_credit(customer)
        erasing = Meanwhile(partial(erase, customer.pk, actor=admin))
        assert erasing.is_blocked_by_us()
    with pytest.raises(SaleAgreed):
        erasing.end()

    batch.refresh_from_db()
    assert batch.customer == customer


def test_a_customer_of_a_batch_is_deleted_after_its_end(upstream: Upstream):
    customer, browser = give_credit(), browser_of("admin")
    batch, address = on_credit(customer), f"/customers/{customer.pk}/delete/"
    pause(batch, actor=supervisor())

    asked = browser.get(address)
    answer = browser.post(address, {"seal": asked.context["seal"]})

    assert (has_id(asked, "kept"), has_id(asked, "deleted-too")) == (True, False)
    assert answer["Location"] == f"/customers/{customer.pk}/"
    batch.refresh_from_db()
    assert batch.customer == customer

    cancel(batch, actor=supervisor())
    page = browser.get(address)
    browser.post(address, {"seal": page.context["seal"]})

    assert not Customer.objects.exists()
    batch.refresh_from_db()
    assert (batch.state, batch.customer) == (BatchState.CANCELLED, None)
