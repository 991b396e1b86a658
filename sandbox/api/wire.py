"""Every request to /v1/ is limited, read, authenticated, served, recorded and answered here."""

import json
import logging
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import OperationalError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from sandbox.api import authentication, fields
from sandbox.api.endpoints import ENDPOINTS, Endpoint, Reply
from sandbox.api.limits import Tally
from sandbox.errors import ApiError, ErrorCode
from sandbox.messages import error, success
from sandbox.models import Account, Delivery, Inquiry, ReceivedRequest, Transaction
from sandbox.scenarios import Answer, scenario_for
from sandbox.services.playing import CutFirst

logger = logging.getLogger(__name__)

HANG_SECONDS = 40.0
DELAY_SECONDS = 2.0
# never stored, because a person who has them can sign
HIDDEN = frozenset({"signature", "secret_key"})


@csrf_exempt
def serve(request: HttpRequest) -> HttpResponse:
    """Answer one request of the wire, valid or not, in one of the two envelopes or as its scenario says."""
    record = ReceivedRequest(
        endpoint=request.path[:60].replace("\0", ""),
        method=(request.method or "")[:10],
        source_ip=request.META.get("REMOTE_ADDR", ""),
    )
    try:
        reply = _process(request, record)
    except ApiError as refusal:
        record.http_status, record.error_code = refusal.http_status, refusal.code.name
        record.save()
        return _refused(refusal)
    except Exception:
        logger.exception("%s failed", request.path)
        record.http_status, record.answer = 500, "fault of the sandbox"
        record.save()
        return JsonResponse(
            {"code": 500, "status": "error", "error_code": "INTERNAL_ERROR", "message": "Internal error."}, status=500
        )
    record.answer = "" if reply.answer is Answer.PLAIN else reply.answer.value
    record.http_status = {Answer.CUT: None, Answer.HTTP_500: 500}.get(reply.answer, 200)
    record.save()
    return _answer(request, reply)


def _process(request: HttpRequest, record: ReceivedRequest) -> Reply:
    account = _account()
    tally = Tally(account)
    tally.admit("ip", who=record.source_ip)
    endpoint = _route(request)
    try:
        raw = request.body
    except RequestDataTooBig as fault:
        raise fields.invalid("The body is too large.") from fault
    body = fields.parse_body(raw)
    _describe(record, body)
    authentication.check_credentials(account, body)
    record.signature = "wrong" if "signature" in body else "absent"
    authentication.check_signature(account, body, with_ref_id=endpoint.with_ref_id)
    record.signature = "valid"
    authentication.check_usable(account, record.source_ip)
    tally.admit("account")
    if endpoint.limit is not None:
        tally.admit(endpoint.limit)
    try:
        return endpoint.serve(account, body)
    except CutFirst:
        return Reply({}, answer=Answer.CUT)
    except ApiError as refusal:
        if refusal.http_status == 429:
            tally.give_back()
        raise


def _account() -> Account:
    try:
        return Account.objects.get(pk=1)
    except OperationalError:  # PostgreSQL was started again: all connections of the pool are dead
        connection.close()
        connection.pool.check()  # type: ignore[attr-defined]  # the stubs leave it out
        return Account.objects.get(pk=1)


def _route(request: HttpRequest) -> Endpoint:
    endpoint = ENDPOINTS.get(request.path)
    if endpoint is None:
        raise ApiError(ErrorCode.INVALID_REQUEST, "There is no such endpoint.", http_status=404)
    if request.method != "POST":
        raise ApiError(ErrorCode.INVALID_REQUEST, "Every endpoint is called with POST.", http_status=405)
    return endpoint


def _describe(record: ReceivedRequest, body: dict[str, Any]) -> None:
    """Note the request's fields, without those that could be used to sign."""
    shown = {name: value for name, value in body.items() if name not in HIDDEN}
    record.body = json.dumps(shown, ensure_ascii=True).replace("\\u0000", "")[:4000]
    ref_id = body.get("ref_id")
    if isinstance(ref_id, str) and fields.REF_ID.fullmatch(ref_id):
        record.ref_id = ref_id
    destination = body.get("destination")
    if isinstance(destination, str):
        scenario = scenario_for("bill" if "/bill/" in record.endpoint else "purchase", destination)
        record.scenario = scenario.number if scenario else None
    elif record.ref_id and record.endpoint == "/v1/bill/pay":
        record.scenario = Inquiry.objects.filter(ref_id=record.ref_id).values_list("scenario", flat=True).first()


def _refused(refusal: ApiError) -> HttpResponse:
    response = JsonResponse(error(refusal), status=refusal.http_status)
    if refusal.retry_after is not None:
        response["Retry-After"] = str(refusal.retry_after)
    if refusal.http_status == 405:
        response["Allow"] = "POST"
    return response


def _answer(request: HttpRequest, reply: Reply) -> HttpResponse:
    data = dict(reply.data)
    match reply.answer:
        case Answer.CUT:
            _wire(request).cut()
        case Answer.HANG:
            _pause(request, HANG_SECONDS)
        case Answer.DELAYED:
            _pause(request, DELAY_SECONDS)
            _wait_for_callback(request, data["ref_id"])
        case Answer.HTTP_500:
            return HttpResponse("<html><body><h1>500 Internal Server Error</h1></body></html>", status=500)
        case Answer.BROKEN_JSON:
            whole = json.dumps(success(data, reply.message))
            return HttpResponse(whole[: len(whole) // 2], content_type="application/json")
        case Answer.OTHER_REF_ID:
            data |= {"ref_id": f"{data['ref_id'][:58]}-other", "status": "success", "sn": "0000111122223333"}
        case Answer.FLOAT_PRICE:
            data["price"] += 0.5
    return JsonResponse(success(data, reply.message))


def _wire(request: HttpRequest) -> Any:
    """The connection of this request, from `server.py`."""
    return request.META["sandbox.wire"]


def _wait_for_callback(request: HttpRequest, ref_id: str) -> None:
    """Wait until the callback about a transaction is answered, at most 10 s: it must come first on any machine."""
    for _ in range(100):
        queued = Delivery.objects.filter(ref_id=ref_id, tries=0)
        if not Transaction.objects.filter(ref_id=ref_id, status="pending").exists() and not queued.exists():
            return
        _pause(request, 0.1 * settings.SANDBOX_SPEED)


def _pause(request: HttpRequest, seconds: float) -> None:
    """Wait without holding a database connection; shorter if the client hangs up."""
    connection.close()
    _wire(request).wait(seconds / settings.SANDBOX_SPEED)
