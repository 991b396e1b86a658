"""A batch in an outage of the upstream: few of its orders come into doubt, and it goes on by itself."""

import datetime as dt

from django.conf import settings
from django.utils import timezone

from batches.services import place_rows
from batches.services.placing import AHEAD
from purchases.models import Order
from purchases.services.sending import claim
from purchases.states import Status
from staff.models import User
from testing.orders import answer, report
from testing.people import Browser
from tests.batches.helpers import released
from tests.conftest import Upstream


def lose_answers(orders: list[Order]) -> None:
    """Send these orders; no answer comes."""
    for order in orders:
        claim(order.pk)
        answer(order, Status.UNKNOWN)


def queued() -> list[Order]:
    return list(Order.objects.filter(status=Status.QUEUED))


def test_while_answers_are_lost_no_further_row_is_placed_and_the_page_says_so(
    upstream: Upstream, browser: Browser, seller: User
):
    batch = released("".join(f"0812{row:08d};10\n" for row in range(1, AHEAD + 6)), seller)
    place_rows(batch.pk)
    page = f"/batches/{batch.pk}/"
    assert 'id="outcomes-wait"' not in browser.get(page).content.decode()
    lost = queued()
    lose_answers(lost)

    place_rows(batch.pk)

    assert (len(lost), queued()) == (AHEAD, [])
    waiting = browser.get(page).content.decode()
    assert ('id="outcomes-wait"' in waiting, 'id="expected-end"' in waiting) == (True, False)
    for order in lost[:2]:
        report(order, "success", sn=f"SN-{order.ref_id}")
    place_rows(batch.pk)
    assert len(queued()) == 2
    assert 'id="outcomes-wait"' not in browser.get(page).content.decode()


def test_orders_whose_call_ended_without_a_word_are_of_unknown_outcome(
    upstream: Upstream, browser: Browser, seller: User
):
    # given: the workers were killed while they waited for the answers
    batch = released("".join(f"0812{row:08d};10\n" for row in range(1, AHEAD + 6)), seller)
    place_rows(batch.pk)
    for order in queued():
        claim(order.pk)
    longest_call = dt.timedelta(seconds=settings.UPSTREAM_CONNECT_TIMEOUT + settings.UPSTREAM_READ_TIMEOUT)
    Order.objects.update(sent_at=timezone.now() - longest_call)

    place_rows(batch.pk)

    assert queued() == []
    assert 'id="outcomes-wait"' in browser.get(f"/batches/{batch.pk}/").content.decode()
    under_way = Order.objects.first()
    Order.objects.filter(pk=under_way.pk).update(sent_at=timezone.now())
    place_rows(batch.pk)
    assert len(queued()) == 1, "a call that may still be answered does not count"
