"""The control API: JSON for tests and proofs on this machine, never for a merchant. See docs/sandbox.md."""

from collections.abc import Callable
from datetime import datetime, time
from functools import wraps
from ipaddress import ip_address
from typing import Any

from django.db import IntegrityError, OperationalError, transaction
from django.db.models import Model
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from sandbox.api import fields
from sandbox.errors import ApiError, NotPossible
from sandbox.messages import moment, transaction_data
from sandbox.models import (
    Account,
    Delivery,
    Inquiry,
    LateArrival,
    LimitHit,
    Mutation,
    ReceivedRequest,
    ScenarioPlay,
    Transaction,
)
from sandbox.services import account, bills, callbacks, catalogue, clock, scheduler, settlement

Body = dict[str, Any]
MOST_ROWS = 1000

# The number of tries of a reset: a delivery at the same time may make it fail.
_RESETS = 3


def reading(view: Callable[[HttpRequest], Body]) -> Callable[[HttpRequest], HttpResponse]:
    """A GET of the control API, for this machine only."""

    @wraps(view)
    def answer(request: HttpRequest) -> HttpResponse:
        if not _is_local(request):
            return JsonResponse({"error": "only from this machine"}, status=403)
        if request.method != "GET":
            return JsonResponse({"error": "use GET"}, status=405)
        return JsonResponse(view(request))

    return answer


def writing(view: Callable[[Body], Body]) -> Callable[[HttpRequest], HttpResponse]:
    """A POST with a JSON object. It requires the content type, which a foreign page in a browser cannot send."""

    @csrf_exempt
    @wraps(view)
    def answer(request: HttpRequest) -> HttpResponse:
        if not _is_local(request):
            return JsonResponse({"error": "only from this machine"}, status=403)
        if request.method != "POST" or request.content_type != "application/json":
            return JsonResponse({"error": "use POST with application/json"}, status=405)
        try:
            return JsonResponse(view(fields.parse_body(request.body or b"{}")))
        except ApiError as refusal:
            return JsonResponse({"error": refusal.message}, status=400)
        except NotPossible as fault:
            return JsonResponse({"error": str(fault)}, status=400)

    return answer


def _is_local(request: HttpRequest) -> bool:
    return ip_address(request.META["REMOTE_ADDR"]).is_loopback


def _wanted(request: HttpRequest, *names: str) -> dict[str, str]:
    """The filters of the query string that the view knows."""
    return {name: request.GET[name] for name in names if request.GET.get(name)}


def _shown(row: Model, *names: str, or_null: tuple[str, ...] = ()) -> Body:
    """These fields of a row, times as text; those of `or_null` are null when they are empty."""
    shown = {}
    for name in (*names, *or_null):
        value = getattr(row, name)
        shown[name] = value.isoformat() if isinstance(value, datetime) else value
        if name in or_null:
            shown[name] = shown[name] or None
    return shown


@reading
def ledger_view(request: HttpRequest) -> Body:
    """Balance and movements, oldest first; with a ref_id only its movements."""
    rows = Mutation.objects.filter(**_wanted(request, "ref_id", "kind")).order_by("id")
    return {
        "balance": Account.objects.get(pk=1).balance,
        "mutations": [
            {**_shown(row, "kind", "amount", "balance_after", "note", or_null=("ref_id",)), "at": moment(row.at)}
            for row in rows
        ],
    }


@reading
def requests_view(request: HttpRequest) -> Body:
    """The last thousand requests, oldest first; with an endpoint or a ref_id only its requests."""
    rows = ReceivedRequest.objects.filter(**_wanted(request, "endpoint", "ref_id"))[:MOST_ROWS]
    names = ("at", "endpoint", "method", "source_ip", "signature", "http_status", "scenario", "body")
    return {"requests": [_shown(row, *names, or_null=("ref_id", "error_code", "answer")) for row in reversed(rows)]}


@reading
def transactions_view(request: HttpRequest) -> Body:
    """Transactions as the wire shows them, with kind, scenario and times, oldest first."""
    rows = Transaction.objects.filter(**_wanted(request, "ref_id", "status")).order_by("id")
    return {
        "transactions": [
            {**transaction_data(row), **_shown(row, "kind", "scenario", "created_at", "settled_at")} for row in rows
        ]
    }


@reading
def deliveries_view(request: HttpRequest) -> Body:
    """Callback deliveries with their attempts, oldest first."""
    rows = Delivery.objects.filter(**_wanted(request, "ref_id")).order_by("id").prefetch_related("attempts")
    return {
        "deliveries": [
            {
                **_shown(row, "ref_id", "event", "content", "state", "next_attempt_at", "body"),
                "delivery_id": str(row.delivery_id),
                "attempts": [
                    _shown(tried, "at", "url", "http_status", "milliseconds", or_null=("error",))
                    for tried in row.attempts.all()
                ],
            }
            for row in rows
        ]
    }


@writing
def account_view(body: Body) -> Body:
    """Change the given fields of the account; the answer is the account."""
    changed = account.change(body)
    return _shown(
        changed, "secret_id", "balance", "api_active", "verified", "allowed_ips", "callback_url", "callback_style",
        "limits",
    )  # fmt: skip


@writing
def settle_view(body: Body) -> Body:
    """Settle a pending transaction, or complete a pending inquiry (status "valid")."""
    ref_id, status = fields.ref_id(body), fields.text(body, "status")
    if status == "valid":
        bills.complete_inquiry(ref_id)
    else:
        settlement.settle(ref_id, status, sn=fields.optional_text(body, "sn"))
    return {"ref_id": ref_id, "status": status}


@writing
def resend_view(body: Body) -> Body:
    """Send the newest true callback of a ref_id again, with its delivery id; without one, send a first callback."""
    delivery = callbacks.resend_newest(fields.ref_id(body))
    if delivery is None:
        raise NotPossible("this ref_id has no final state, or there is no callback URL")
    return {"delivery_id": str(delivery.delivery_id)}


@writing
def topup_view(body: Body) -> Body:
    """Top up by `amount` rupiah."""
    amount = fields.optional_rupiah(body, "amount")
    if not amount:
        raise NotPossible("amount must be a whole number of rupiah above zero")
    return {"balance": account.top_up(amount, note="control").balance_after}


@writing
def product_view(body: Body) -> Body:
    """Change a product: price, status, vanished, cut_off_start and cut_off_end ("HH:MM" or null)."""
    changes: dict[str, Any] = {}
    price = fields.optional_rupiah(body, "price")
    if price is not None:
        changes["price"] = price
    if "status" in body:
        changes["status"] = fields.text(body, "status")
        if changes["status"] not in ("active", "inactive"):
            raise NotPossible("status must be active or inactive")
    if "vanished" in body:
        changes["delisted"] = body["vanished"] is True
    for name in ("cut_off_start", "cut_off_end"):
        if name in body:
            try:
                changes[name] = None if body[name] is None else time.fromisoformat(fields.text(body, name))
            except ValueError as fault:
                raise NotPossible(f"{name} must be HH:MM or null") from fault
    catalogue.change(fields.text(body, "product_code"), **changes)
    return {"product_code": body["product_code"]}


@writing
def time_view(body: Body) -> Body:
    """Set the clock to `now` (ISO 8601 with its zone), or to the real time for null; settle all that is due by then."""
    wanted = fields.optional_text(body, "now")
    try:
        to = datetime.fromisoformat(wanted) if wanted else None
    except ValueError:
        to = None
    if wanted and (to is None or to.tzinfo is None or not 2000 < to.year < 2100):
        raise NotPossible("now must be a moment with its zone, from this century, or null")
    clock.move(to)
    settlement.settle_due()
    return {"now": timezone.now().isoformat()}


@writing
def reset_view(_body: Body) -> Body:
    """Delete transactions, inquiries, requests, deliveries, movements and limits; restore balance and catalogue."""
    for left in reversed(range(_RESETS)):
        try:
            balance = _reset()
            break
        except (IntegrityError, OperationalError):  # a delivery wrote, or held a row, meanwhile
            if not left:
                raise
    scheduler.wake()
    return {"balance": balance}


def _reset() -> int:
    with transaction.atomic():
        locked = account.lock_account()
        for table in (Delivery, Transaction, Inquiry, Mutation, ReceivedRequest, ScenarioPlay, LateArrival, LimitHit):
            table.objects.all().delete()
        account.restore(locked)
        catalogue.restore()
    return locked.balance
