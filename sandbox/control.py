"""The control API: JSON for tests and proofs on this machine, never for a merchant. See docs/sandbox.md."""

from collections.abc import Callable
from datetime import time
from functools import wraps
from ipaddress import ip_address
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from sandbox import account_settings, callbacks, catalogue, clock
from sandbox.api import fields, messages
from sandbox.api.envelope import ApiError
from sandbox.engine import bills, ledger, settlement
from sandbox.models import (
    Account,
    Delivery,
    Inquiry,
    LateArrival,
    LimitHit,
    Mutation,
    Product,
    ReceivedRequest,
    ScenarioPlay,
    Transaction,
)

Body = dict[str, Any]
MOST_ROWS = 1000


class ControlError(Exception):
    """A sentence for whoever called, answered with HTTP 400."""


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
    """A POST with a JSON object. The content type is insisted on: a foreign page in a browser cannot send it."""

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
        except ControlError as fault:
            return JsonResponse({"error": str(fault)}, status=400)

    return answer


def _is_local(request: HttpRequest) -> bool:
    return ip_address(request.META["REMOTE_ADDR"]).is_loopback


def _wanted(request: HttpRequest, *names: str) -> dict[str, str]:
    """The filters that the query string gives, of those that the view knows."""
    return {name: request.GET[name] for name in names if request.GET.get(name)}


@reading
def ledger_view(request: HttpRequest) -> Body:
    """Balance and movements, oldest first, optionally of one ref_id."""
    rows = Mutation.objects.filter(**_wanted(request, "ref_id", "kind")).order_by("id")
    return {
        "balance": Account.objects.get(pk=1).balance,
        "mutations": [
            {
                "ref_id": row.ref_id or None,
                "kind": row.kind,
                "amount": row.amount,
                "balance_after": row.balance_after,
                "at": messages.moment(row.at),
                "note": row.note,
            }
            for row in rows
        ],
    }


@reading
def requests_view(request: HttpRequest) -> Body:
    """Requests received, oldest first (the last thousand), optionally of one endpoint or ref_id."""
    rows = ReceivedRequest.objects.filter(**_wanted(request, "endpoint", "ref_id"))[:MOST_ROWS]
    return {
        "requests": [
            {
                "at": row.at.isoformat(),
                "endpoint": row.endpoint,
                "method": row.method,
                "source_ip": row.source_ip,
                "ref_id": row.ref_id or None,
                "signature": row.signature,
                "http_status": row.http_status,
                "error_code": row.error_code or None,
                "scenario": row.scenario,
                "answer": row.answer or None,
                "body": row.body,
            }
            for row in reversed(rows)
        ]
    }


@reading
def transactions_view(request: HttpRequest) -> Body:
    """Transactions as the wire shows them, plus kind and scenario, oldest first."""
    rows = Transaction.objects.filter(**_wanted(request, "ref_id", "status")).order_by("id")
    return {
        "transactions": [
            {
                **messages.transaction_data(row),
                "kind": row.kind,
                "scenario": row.scenario,
                "created_at": row.created_at.isoformat(),
                "settled_at": row.settled_at.isoformat() if row.settled_at else None,
            }
            for row in rows
        ]
    }


@reading
def deliveries_view(request: HttpRequest) -> Body:
    """Callback deliveries with their attempts, oldest first."""
    rows = Delivery.objects.filter(**_wanted(request, "ref_id")).order_by("id").prefetch_related("attempts")
    return {
        "deliveries": [
            {
                "delivery_id": str(row.delivery_id),
                "ref_id": row.ref_id,
                "event": row.event,
                "content": row.content,
                "state": row.state,
                "next_attempt_at": row.next_attempt_at.isoformat() if row.next_attempt_at else None,
                "body": row.body,
                "attempts": [
                    {
                        "at": tried.at.isoformat(),
                        "url": tried.url,
                        "http_status": tried.http_status,
                        "error": tried.error or None,
                        "milliseconds": tried.milliseconds,
                    }
                    for tried in row.attempts.all()
                ],
            }
            for row in rows
        ]
    }


@writing
def account_view(body: Body) -> Body:
    """Change the account; only what is given changes. Answers how it stands then."""
    try:
        account = account_settings.change(body)
    except account_settings.NotPossible as fault:
        raise ControlError(str(fault)) from fault
    return {
        "secret_id": account.secret_id,
        "balance": account.balance,
        "api_active": account.api_active,
        "verified": account.verified,
        "allowed_ips": account.allowed_ips,
        "callback_url": account.callback_url,
        "callback_style": account.callback_style,
        "limits": account.limits,
    }


@writing
def settle_view(body: Body) -> Body:
    """Settle a pending transaction, or complete a pending bill check (status "valid")."""
    ref_id, status = fields.ref_id(body), fields.text(body, "status")
    if status == "valid":
        done = bills.complete_inquiry(ref_id)
    elif status == "success":
        done = settlement.settle(ref_id, "success", sn=fields.optional_text(body, "sn"))
    elif status == "failed":
        done = settlement.settle(ref_id, "failed")
    else:
        raise ControlError("status must be success, failed or, for a bill check, valid")
    if not done:
        raise ControlError("nothing with this ref_id is pending")
    return {"ref_id": ref_id, "status": status}


@writing
def resend_view(body: Body) -> Body:
    """Send the newest true callback of a ref_id again, with the same delivery id; or a first one if none was made."""
    ref_id = fields.ref_id(body)
    delivery = callbacks.resend_newest(ref_id)
    if delivery is None:
        raise ControlError("there is nothing final to tell about this ref_id, or no callback URL")
    return {"delivery_id": str(delivery.delivery_id)}


@writing
def topup_view(body: Body) -> Body:
    """Top up by `amount` rupiah."""
    amount = fields.optional_rupiah(body, "amount")
    if not amount:
        raise ControlError("amount must be a whole number of rupiah above zero")
    return {"balance": ledger.top_up(amount, note="control").balance_after}


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
            raise ControlError("status must be active or inactive")
    if "vanished" in body:
        changes["vanished"] = body["vanished"] is True
    for name in ("cut_off_start", "cut_off_end"):
        if name in body:
            try:
                changes[name] = None if body[name] is None else time.fromisoformat(fields.text(body, name))
            except ValueError as fault:
                raise ControlError(f"{name} must be HH:MM or null") from fault
    if not Product.objects.filter(product_code=fields.text(body, "product_code")).update(**changes):
        raise ControlError("there is no such product")
    return {"product_code": body["product_code"]}


@writing
def reset_view(_body: Body) -> Body:
    """Forget every transaction, inquiry, request, delivery, movement and limit; restore balance and catalogue."""
    with transaction.atomic():
        account = ledger.lock_account()
        for table in (Delivery, Transaction, Inquiry, Mutation, ReceivedRequest, ScenarioPlay, LateArrival, LimitHit):
            table.objects.all().delete()
        account_settings.restore(account)
        catalogue.load()
    clock.wake()
    return {"balance": account.balance}
