"""The pages about callbacks: what came in, what became of it, and once more by hand."""

from __future__ import annotations

import json

from django.contrib import messages
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from backoffice.access import StaffRequest, staff_only
from backoffice.paging import keyset_page
from callbacks import services
from callbacks.models import Receipt, Refusal, RefusalCount
from purchases.errors import NotPossible
from purchases.models import Order


@staff_only("callbacks.view_receipt")
@require_GET
def receipt_list(request: StaffRequest) -> HttpResponse:
    """Callbacks newest first, by state and ref_id or delivery id; and how many were turned away."""
    text = request.GET.get("q", "").strip().replace("\0", "")[:100]
    state = request.GET.get("state", "")
    found = Receipt.objects.defer("body", "headers")
    if state in Receipt.State.values:
        found = found.filter(state=state)
    if text:
        found = found.filter(Q(ref_id__istartswith=text) | Q(delivery_id__istartswith=text))
    context = {
        "page": keyset_page(found, request.GET, time_field="received_at"),
        "text": text,
        "state": state,
        "states": Receipt.State.choices,
        "is_filtered": bool(text or state),
        "refusal_counts": RefusalCount.objects.order_by("-day", "reason")[:10],
        "refusals": Refusal.objects.all()[:10],
    }
    return render(request, "callbacks/receipt_list.html", context)


@staff_only("callbacks.view_receipt")
@require_GET
def receipt_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """One callback: its bytes as text, its headers, the verdict on its signature, and the order that it is about."""
    receipt = get_object_or_404(Receipt, pk=pk)
    # Whatever the bytes are, they are shown as text and escaped by the template.
    raw = bytes(receipt.body).decode("utf-8", errors="backslashreplace")
    try:
        pretty = json.dumps(json.loads(raw), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        pretty = ""
    context = {
        "receipt": receipt,
        "raw": raw,
        "pretty": pretty if pretty != raw else "",
        "size": len(receipt.body),
        "headers": sorted(receipt.headers.items()),
        "order": Order.objects.filter(ref_id=receipt.ref_id).first() if receipt.ref_id else None,
        "may_process": request.user.has_perm("callbacks.process_receipt") and receipt.state != Receipt.State.RECEIVED,
    }
    return render(request, "callbacks/receipt_detail.html", context)


@staff_only("callbacks.view_receipt", "callbacks.process_receipt")
@require_POST
def receipt_process(request: StaffRequest, pk: int) -> HttpResponse:
    """Process one callback again; harmless, since the same outcome applied twice changes nothing."""
    receipt = get_object_or_404(Receipt, pk=pk)
    try:
        receipt = services.process_again(receipt, actor=request.user)
    except NotPossible as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("Processed again: %(result)s") % {"result": receipt.result})
    return redirect("receipt_detail", pk=pk)
