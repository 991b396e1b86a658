"""One order's full history, as a page that can be printed, and as a file."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import Http404, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _, gettext_lazy, pgettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from audit.acts import act
from audit.services import NotSealed, proof_of, record
from core.access import StaffRequest, staff_only
from core.numbers import masked_json, may_take_whole, whole_numbers
from core.rights import Right
from exports.events import EXPORT_MADE
from staff.confirming import check_factor
from staff.errors import FactorRefused
from workbench.presenting.story import lines_of
from workbench.services import Story, read_story
from workbench.services.story import MOST_ROWS, facts_of, history_of_order

# A full history shows the content of the pages behind all these rights.
RIGHTS = (
    Right.VIEW_ORDERS,
    Right.VIEW_EXCHANGES,
    Right.VIEW_CALLBACKS,
    Right.VIEW_STATEMENT,
    Right.VIEW_COST,
    Right.VIEW_DIFFERENCES,
    Right.VIEW_AUDIT,
)
# The act that a second factor confirms.
WHOLE_STORY = act("whole_story", pgettext_lazy("audit", "Full history with full numbers"), Right.REVEAL_NUMBERS)


class WholeFile(models.TextChoices):
    """The files about one order with its full number. A proof without it would prove nothing."""

    STORY = "story", gettext_lazy("Full history (JSON)")
    PROOF = "proof", gettext_lazy("The proof that it is in the sealed audit (JSON)")


@staff_only(*RIGHTS)
@require_GET
def order_story(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Everything that is kept about one order, in the order of time."""
    story = _story(request, ref_id)
    context = {
        "order": story.order,
        "lines": lines_of(story, request.user),
        "is_whole": story.is_whole,
        "may_take_whole": may_take_whole(request.user),
        "now": timezone.now(),
    }
    return render(request, "workbench/story.html", context)


@staff_only(*RIGHTS)
@require_GET
def order_story_file(request: StaffRequest, ref_id: str) -> HttpResponse:
    """The full history as JSON, with every row, also requests, answers and callbacks. Numbers are masked."""
    story = _story(request, ref_id, with_bodies=True)
    record(EXPORT_MADE, actor=request.user, subject=ref_id, facts={"list": "story", "format": "json"})
    facts = _whole_facts(request, story)
    return _file(masked_json(facts, story.order.destination), f"story-{ref_id}.json")


@staff_only(*RIGHTS)
@require_http_methods(["GET", "POST"])
def order_story_whole(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Ask for the second factor (GET); the full history or the proof, with the order's full number (POST).

    For an erased customer only the proof has the number: without the rows as they were sealed it would prove nothing.
    """
    if not may_take_whole(request.user):
        raise PermissionDenied
    story, refusal = _story(request, ref_id, with_bodies=request.method == "POST"), None
    content = {"ref_id": story.order.ref_id}
    choices = [choice for choice in WholeFile.choices if choice[0] == WholeFile.PROOF or not story.order.number_erased]
    if request.method == "POST":
        wanted = request.POST.get("file", "")
        if wanted not in dict(choices):
            return HttpResponseBadRequest()
        try:
            check_factor(request, act=WHOLE_STORY, content=content | {"file": wanted})
        except FactorRefused as error:
            refusal = error
        else:
            return _whole(request, story, WholeFile(wanted))
    context = {
        "act": WHOLE_STORY,
        "content": content,
        "name": "file",
        "choices": choices,
        "refusal": refusal,
        "back": reverse("order_story", args=[ref_id]),
    }
    return render(request, "exports/whole_numbers.html", context)


def _whole(request: StaffRequest, story: Story, wanted: WholeFile) -> HttpResponse:
    ref_id = story.order.ref_id
    try:
        made = proof_of(ref_id) if wanted is WholeFile.PROOF else _whole_facts(request, story)
    except NotSealed:
        messages.error(request, _("It is not sealed yet: try again in two minutes."), extra_tags="not_sealed")
        return redirect("order_story", ref_id=ref_id)
    facts = {"list": wanted.value, "format": "json", "numbers": "whole"}
    record(EXPORT_MADE, actor=request.user, subject=ref_id, facts=facts)
    return _file(made, f"{wanted.value}-{ref_id}.json")


def _whole_facts(request: StaffRequest, story: Story) -> dict[str, Any]:
    """Everything about the order, with full numbers."""
    with whole_numbers():
        lines = [line.as_json() for line in lines_of(story, request.user)]
    history = history_of_order(story.order)
    return {
        "ref_id": story.order.ref_id,
        "made_at": timezone.now(),
        "made_by": request.user.username,
        "is_whole": story.is_whole and len(history) < MOST_ROWS,
        "order": facts_of(story.order),
        "order_history": [facts_of(row) for row in history],
        "lines": lines,
    }


def _file(content: dict[str, Any], name: str) -> HttpResponse:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return JsonResponse(content, json_dumps_params={"indent": 1, "ensure_ascii": False}, headers=headers)


def _story(request: StaffRequest, ref_id: str, *, with_bodies: bool = False) -> Story:
    sees_credit = request.user.has_perm(Right.USE_CREDIT) or request.user.has_perm(Right.VIEW_CREDIT)
    story = read_story(ref_id, with_bodies=with_bodies, with_credit=sees_credit)
    if story is None:
        raise Http404
    return story
