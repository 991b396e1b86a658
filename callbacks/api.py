"""`POST /callbacks/upstream/`: where the upstream reports outcomes (document, Events 1–4; the form is our decision).

A callback is checked, stored unchanged and answered, in this order. Nothing else happens here: no call to the upstream,
no move of an order. A worker processes every stored callback, or the sweep finds it when the broker is down.
"""

import ipaddress
import logging
from collections.abc import Iterable

from django.conf import settings
from django.http import HttpRequest
from django.utils.log import log_response
from rest_framework import status
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.permissions import AllowAny
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from callbacks import services
from callbacks.models import RefusalReason
from callbacks.refusals import count_refusal
from core.addresses import address_of
from core.connections import is_away
from upstream import callback_signature, strict_json

log = logging.getLogger(__name__)

MAX_BYTES = 64 * 1024
_TRY_AGAIN_SECONDS = "5"


class NotAccepted(Exception):
    """The callback is not stored: `http_status` is answered and the reason counted. `fault`: details for the sender."""

    def __init__(self, http_status: int, reason: RefusalReason, fault: object = "", *, size: int = 0) -> None:
        self.http_status = http_status
        self.reason = reason
        self.fault = str(fault)
        self.size = size
        super().__init__(reason)


class AlwaysJson(BaseContentNegotiation):
    """Accepts any Accept header: a callback must not be lost over a header."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser:
        """Not used: the bytes are read unchanged."""
        return next(iter(parsers))

    def select_renderer(
        self,
        request: Request,
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,
    ) -> tuple[BaseRenderer, str]:
        """The first renderer, which is JSON."""
        first = next(iter(renderers))
        return first, first.media_type


class UpstreamCallback(APIView):
    """Authenticated by signature and source address, never by a session."""

    content_negotiation_class = AlwaysJson
    authentication_classes = ()
    permission_classes = (AllowAny,)

    def post(self, request: Request) -> Response:
        """200 when stored now or before, 400 not strict JSON, 403 not genuine, 413 too large, 415 not JSON."""
        raw_request = request._request  # for the unparsed bytes
        source = address_of(raw_request) or None
        try:
            body, ref_id, event = _read(raw_request, source)
        except NotAccepted as refusal:
            count_refusal(reason=refusal.reason, source_address=source, size=refusal.size)
            detail = f"{refusal.reason}: {refusal.fault}" if refusal.fault else refusal.reason
            return Response({"detail": detail}, status=refusal.http_status)
        services.receive(
            body=body,
            headers=raw_request.headers,
            source_address=source,
            is_signed=callback_signature.signs(settings.UPSTREAM_CALLBACK_VERIFIER),
            ref_id=ref_id,
            event=event,
        )
        return Response({"received": True})

    def handle_exception(self, exc: Exception) -> Response:
        """503 while the database is away, so that the upstream sends it again; any other fault is ours."""
        if not is_away(exc):
            return super().handle_exception(exc)
        again = {"Retry-After": _TRY_AGAIN_SECONDS}
        answer = Response({"detail": "try again"}, status=status.HTTP_503_SERVICE_UNAVAILABLE, headers=again)
        # instead of Django's own line, which would say error
        log_response("callback not stored: the database is away", response=answer, logger=log, level="warning")
        return answer


def _read(request: HttpRequest, source: str | None) -> tuple[bytes, str, str]:
    """The body, its `ref_id` and its event ("" if it has none). Raises `NotAccepted`."""
    if not _may_call(source):
        raise NotAccepted(status.HTTP_403_FORBIDDEN, RefusalReason.SOURCE)
    declared = request.META.get("CONTENT_LENGTH") or "0"
    if not declared.isdigit() or int(declared) > MAX_BYTES:
        raise NotAccepted(status.HTTP_413_REQUEST_ENTITY_TOO_LARGE, RefusalReason.TOO_LARGE)
    # the web server has received the whole body, and declares a length for a chunked one
    body = request.read()
    if request.content_type != "application/json":
        raise NotAccepted(status.HTTP_415_UNSUPPORTED_MEDIA_TYPE, RefusalReason.CONTENT_TYPE, size=len(body))
    try:
        content = strict_json.loads(body)
    except strict_json.NotStrictJson as fault:
        raise NotAccepted(status.HTTP_400_BAD_REQUEST, RefusalReason.NOT_JSON, fault, size=len(body)) from fault
    if not isinstance(content, dict):
        raise NotAccepted(status.HTTP_400_BAD_REQUEST, RefusalReason.NOT_JSON, "not an object", size=len(body))
    data = content.get("data")
    ref_id = data.get("ref_id") if isinstance(data, dict) else None
    ref_id = ref_id if isinstance(ref_id, str) else None
    if not _is_genuine(request, body, ref_id):
        raise NotAccepted(status.HTTP_403_FORBIDDEN, RefusalReason.SIGNATURE, size=len(body))
    event = content.get("event")
    return body, (ref_id or "")[:64], event[:60] if isinstance(event, str) else ""


def _is_genuine(request: HttpRequest, body: bytes, ref_id: str | None) -> bool:
    """Whether it is signed with our key, or with the previous one while the key is being changed."""
    keys = [settings.UPSTREAM_SECRET_KEY, settings.UPSTREAM_SECRET_KEY_PREVIOUS]
    return any(
        callback_signature.verify(
            settings.UPSTREAM_CALLBACK_VERIFIER,
            callback_signature.Incoming(
                secret_id=settings.UPSTREAM_SECRET_ID,
                secret_key=key,
                headers=request.headers,
                body=body,
                ref_id=ref_id,
            ),
        )
        for key in keys[: 2 if keys[1] else 1]
    )


def _may_call(source: str | None) -> bool:
    allowed = settings.UPSTREAM_CALLBACK_ALLOWED_IPS
    if not allowed:
        return True
    if source is None:
        return False
    address = ipaddress.ip_address(source)
    return any(address in ipaddress.ip_network(network, strict=False) for network in allowed)
