"""One order's whole story: a page, also for paper, and a file."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from audit.kinds import Kind
from audit.services import NotSealed, proof_of, record
from core.access import StaffRequest, staff_only
from workbench.presenting.story import lines_of
from workbench.services import Story, read_story
from workbench.services.story import facts_of, history_of_order

# A story holds what the pages of all these rights hold.
RIGHTS = (
    "purchases.view_order",
    "gateway.view_exchange",
    "callbacks.view_callback",
    "ledger.view_entry",
    "reconciliation.view_difference",
    "audit.view_auditevent",
)


@staff_only(*RIGHTS)
@require_GET
def order_story(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Everything that is kept about one order, in the order of time."""
    story = _story(ref_id)
    context = {"order": story.order, "lines": lines_of(story), "is_whole": story.is_whole, "now": timezone.now()}
    return render(request, "workbench/story.html", context)


@staff_only(*RIGHTS)
@require_GET
def order_story_file(request: StaffRequest, ref_id: str) -> HttpResponse:
    """The same as JSON, with every row whole: what was sent, what was answered, what callbacks brought."""
    story = _story(ref_id, with_bodies=True)
    record(Kind.EXPORT_MADE, request=request, subject=ref_id, facts={"list": "story", "format": "json"})
    told = {
        "ref_id": ref_id,
        "made_at": timezone.now(),
        "made_by": request.user.username,
        "is_whole": story.is_whole,
        "order": facts_of(story.order),
        "order_history": [facts_of(row) for row in history_of_order(story.order)],
        "lines": [line.as_json() for line in lines_of(story)],
    }
    name = f"story-{ref_id}.json"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return JsonResponse(told, json_dumps_params={"indent": 2, "ensure_ascii": False}, headers=headers)


@staff_only(*RIGHTS)
@require_GET
def order_proof(request: StaffRequest, ref_id: str) -> HttpResponse:
    """The proof that the order stands in the sealed audit, as a file that others verify without us."""
    try:
        proof = proof_of(ref_id)
    except NotSealed:
        messages.error(request, _("It is not sealed yet: try again in two minutes."), extra_tags="not_sealed")
        return redirect("order_story", ref_id=ref_id)
    record(Kind.EXPORT_MADE, request=request, subject=ref_id, facts={"list": "proof", "format": "json"})
    headers = {"Content-Disposition": f'attachment; filename="proof-{ref_id}.json"'}
    return JsonResponse(proof, json_dumps_params={"indent": 1, "ensure_ascii": False}, headers=headers)


def _story(ref_id: str, *, with_bodies: bool = False) -> Story:
    story = read_story(ref_id, with_bodies=with_bodies)
    if story is None:
        raise Http404
    return story
