"""Send a queued order to the upstream, at most once per claim."""

from concurrent.futures import Future
from dataclasses import dataclass, replace

from django.conf import settings
from django.db import connection, transaction

from core import clock
from core.publish import publish
from gateway import services as gateway
from gateway.line import ring_when_committed
from gateway.polling import backoff, in_seconds, wait_after
from purchases.models import Order, OrderEvent
from purchases.services.decisions import Decision, apply_verdict
from purchases.services.moving import Cause, lock_order_for_move, move
from purchases.services.reports import Report, apply_report
from purchases.services.sent import BESIDE, begin_line, end_line
from purchases.states import Status
from upstream import requests
from upstream.budget import CallClass
from upstream.endpoints import Endpoint
from upstream.error_codes import Next, meaning_of
from upstream.errors import Misconfigured, OutcomeUnknown, Rejected, Unavailable, UpstreamError
from upstream.messages import Transaction
from upstream.requests import Request

# The upstream is still checking the bill that we pay: the same request again after this long (seconds).
_NOT_READY_SECONDS = 5.0
# Without a connection the pauses grow with the order's age, up to this (seconds): each try leaves two lines in the
# timeline, and a night without internet would leave thousands. A short outage adds only a part of its length.
_PART_OF_ITS_AGE, _LONGEST_WITHOUT_CONNECTION_SECONDS = 1 / 6, 60.0
_SUBMIT = OrderEvent.Source.SUBMIT
# After a restore: nobody has opened the shop yet, or this very order may have been sent before.
_IS_KEPT_BACK = """(
    (SELECT is_held FROM gateway_upstreamaccount)
    OR EXISTS (SELECT FROM purchases_lostorder lost
                WHERE lost.ref_id = purchases_order.ref_id AND lost.order_id IS NULL)
)"""


@dataclass(frozen=True)
class Claim:
    """An order that was taken for sending. `number`: the number of this sending, taken before it leaves.

    `line`: its line in the journal, while it is being written.
    """

    order: Order
    number: int
    line: Future[bool] | None = None

    @property
    def is_first_doubt(self) -> bool:
        """Whether no earlier sending may have been charged: then the answer to this one counts for the order."""
        return self.order.sent_no == self.number


def submit(order_id: int, *, call_class: CallClass, permit_id: str = "") -> bool:
    """Send the order if it is queued and the rate budget has room; apply the upstream's answer.

    False: it was certainly not sent and is queued again.

    `permit_id`: the permit that the dispatcher booked for it; without it, one is booked here.

    The claim (`sending`) is committed before the socket is written, and an order in `sending` may only be polled: so a
    killed worker, a doubled message or a second worker never sends it twice.
    """
    endpoint = _endpoint(order_id)
    if endpoint is None:
        gateway.give_back(permit_id)
        return True
    try:
        # Before the claim: an order that waits for the budget has certainly not been sent.
        permit = gateway.reserve(endpoint, call_class=call_class, permit_id=permit_id)
    except (Unavailable, Misconfigured) as error:
        wait = in_seconds(wait_after(error) or 0.0)
        Order.objects.filter(pk=order_id, status=Status.QUEUED).update(next_poll_at=wait)
        ring_when_committed(wait)
        return False
    claimed = claim(order_id, journal=True)
    if claimed is None:
        permit.cancel()
        return True
    order = claimed.order
    if claimed.line:
        end_line(claimed.line, order)
    try:
        reply = gateway.call(_request(order), permit=permit, sent_no=claimed.number, attempt=order.attempt)
    except UpstreamError as error:
        apply_verdict(order.pk, _after(error, claimed), attempt=order.attempt)
        return not isinstance(error, Unavailable)
    report = Report(data=reply.data, source=_SUBMIT, raw=reply.raw, asked_no=claimed.number)
    apply_report(order.pk, report)
    return True


def claim(order_id: int, *, journal: bool = False, is_doubted: bool = False) -> Claim | None:
    """Take a queued order for sending: committed `sending`, a new attempt, with its line in the `journal`.

    None if another process has taken it, if the shop was restored and nobody has opened it, or while the journal has
    an order of this ref_id that is not taken in. `is_doubted`: the last two do not count, because nothing is sent.
    """
    with transaction.atomic():
        beside = {"beside": BESIDE} if journal else {}
        order = lock_order_for_move(order_id, is_kept_back=_IS_KEPT_BACK, **beside)
        if order.status != Status.QUEUED or (order.is_kept_back and not is_doubted):  # type: ignore[attr-defined]
            return None
        move(
            order,
            Status.SENDING,
            Cause(source=_SUBMIT),
            wait=settings.ORDER_CHECK_FIRST_SECONDS,
            attempt=order.attempt + 1,
            sent_at=clock.now(),
            sent_no=order.sent_no or order.locked_no,
            polls=0,
            not_found_count=0,
            not_found_since=None,
        )
        # Before the commit, so that both go to the disk at the same time.
        line = begin_line(order, order.beside) if journal else None  # type: ignore[attr-defined]
        return Claim(order, order.locked_no, line)


def doubt_queued() -> None:
    """In a database that was just restored: poll each queued order, because it may have been sent since the backup."""
    for pk in Order.objects.filter(status=Status.QUEUED).order_by("pk").values_list("pk", flat=True):
        doubt(pk)


def doubt(order_id: int) -> None:
    """Poll a queued order, and do not send it: it may have been sent in the time that a restored database has lost."""
    with transaction.atomic():
        if claimed := claim(order_id, is_doubted=True):
            unknown = Decision(status=Status.UNKNOWN, source=_SUBMIT, facts={"code": "restored"})
            apply_verdict(order_id, unknown, attempt=claimed.order.attempt)


def _endpoint(order_id: int) -> Endpoint | None:
    """The endpoint to which a queued order is sent; None if it is not queued."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT kind FROM purchases_order WHERE id = %s AND status = %s", [order_id, Status.QUEUED.value]
        )
        row = cursor.fetchone()
    if row is None:
        return None
    return Endpoint.BILL_PAY if row[0] == Order.Kind.BILL else Endpoint.TRANSACTION_CREATE


def _request(order: Order) -> Request[Transaction]:
    if order.kind == Order.Kind.BILL:
        return requests.bill_pay(ref_id=order.ref_id, amount=order.max_price)
    return requests.create_transaction(
        ref_id=order.ref_id,
        product_code=order.product_code,
        destination=order.destination,
        max_price=order.max_price,
    )


def _after(error: UpstreamError, claimed: Claim) -> Decision:
    """The order's next status if its sending got no report."""
    said = error.said if isinstance(error, OutcomeUnknown) else ""  # for the person who decides about it
    facts = {"code": "no_answer", "reason": str(error)}
    unknown = Decision(status=Status.UNKNOWN, source=_SUBMIT, note=said, facts=facts)
    queued = replace(unknown, status=Status.QUEUED, wait=wait_after(error), uncharged_no=claimed.number)
    match error:
        case Rejected():
            return _after_rejection(error, claimed)
        case Unavailable():
            if error.reason == "connect":
                age = (clock.now() - claimed.order.created_at).total_seconds()
                wait = max(wait_after(error) or 0.0, min(age * _PART_OF_ITS_AGE, _LONGEST_WITHOUT_CONNECTION_SECONDS))
                queued = replace(queued, wait=wait)
            return replace(queued, facts={"code": "not_sent", "reason": error.reason})
        case Misconfigured():
            code = error.error_code or ""
            return replace(queued, error_code=code, facts={"code": "not_sent", "reason": code or error.reason})
    return unknown


def _after_rejection(error: Rejected, claimed: Claim) -> Decision:
    """The next status, by the row of the error code. If an earlier sending is in doubt, a no clears only this one."""
    code, meaning = error.error_code, meaning_of(error.error_code)
    if meaning.catalogue_is_stale:
        publish("catalogue.tasks.sync_catalogue")
    unknown = Decision(status=Status.UNKNOWN, source=_SUBMIT, error_code=code, message=error.message, note=str(error))
    no = replace(unknown, uncharged_no=claimed.number)
    match meaning.next:
        case Next.TRY_AGAIN:
            return replace(no, status=Status.QUEUED, wait=wait_after(error))
        case Next.WAIT_READY:
            # A person has confirmed the total; the upstream is not ready to take it (document, /v1/bill/pay 7).
            wait = backoff(claimed.order.attempt, first=_NOT_READY_SECONDS)
            return replace(no, status=Status.QUEUED, wait=wait)
        case Next.NEEDS_ACTION if claimed.is_first_doubt:
            return replace(no, status=Status.NEEDS_ACTION, action_reason=meaning.action_reason)
        case Next.REJECT if claimed.is_first_doubt:
            return replace(no, status=Status.REJECTED)
    return unknown
