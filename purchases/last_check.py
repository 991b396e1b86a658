"""The result and time of the last status request about an open order: the outcome of "Check the status now"."""

import datetime as dt
from typing import Any

from django.db.models import OuterRef, Subquery
from django.db.models.functions import JSONObject
from django.utils.translation import gettext as _

from core.times import short_time
from gateway.models import Exchange
from purchases.models import Order
from purchases.states import Status
from upstream.endpoints import Endpoint
from upstream.error_codes import ErrorCode


def last_exchange() -> Subquery:
    """For `annotate`: the newest status request since the order was sent last, for `last_check`; null without one."""
    asked = Exchange.objects.of_order(OuterRef("ref_id")).filter(
        endpoint=Endpoint.TRANSACTION_STATUS, sent_at__gte=OuterRef("sent_at")
    )
    facts = JSONObject(at="sent_at", status="status", error="error")
    return Subquery(asked.order_by("-pk").values(json=facts)[:1])


def last_check(order: Order) -> str:
    """The result in one sentence, for an order with `last_exchange` as `checked`; "" if the status says it."""
    checked: dict[str, Any] | None = order.checked  # type: ignore[attr-defined] # by `last_exchange`
    if order.is_final or not checked:
        return ""
    if checked["error"].endswith(f" {ErrorCode.TRANSACTION_NOT_FOUND}"):
        answer = _("the provider does not find it")
    elif checked["error"]:
        answer = _("no reliable answer")
    elif checked["status"] == Status.PENDING:
        answer = _("the provider is still working on it")
    else:
        return ""
    time = short_time(dt.datetime.fromisoformat(checked["at"]))
    return _("Checked %(time)s: %(answer)s.") % {"time": time, "answer": answer}
