"""Find anything: one field, and the first results of each kind while a person types."""

from collections.abc import Iterable, Sequence

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from core.access import StaffRequest, staff_only
from find.kinds.asked import Asked
from find.kinds.kind import Kind, Result

_OF_EACH, _OF_ONE = 5, 20


@staff_only()
@require_GET
def find(request: StaffRequest, kinds: Sequence[Kind]) -> HttpResponse:
    """The page, or for htmx its results. `q`: the text; `kind`: only this kind, with more results."""
    wanted = request.GET.get("kind", "")
    asked = Asked(request.GET.get("q", ""), request.user, _OF_ONE if wanted else _OF_EACH)
    seen = [kind for kind in kinds if kind.may_be_seen_by(request.user)]
    groups = [(kind, results) for kind in seen if (results := _first(kind.results(asked), asked.most))]
    if any(not results[0].is_far for _kind, results in groups):
        groups = [(kind, results) for kind, results in groups if not results[0].is_far]
    groups.sort(key=lambda group: (group[1][0].is_empty, not group[1][0].is_meant))
    narrowed = [group for group in groups if group[0].name == wanted]
    context = {
        "text": asked.text,
        "by_part": asked.by_part,
        "kinds": [kind for kind, _results in groups],
        "kind": wanted if narrowed else "",
        "groups": narrowed or [(kind, _first(results, _OF_EACH)) for kind, results in groups],
    }
    if request.headers.get("HX-Request"):
        return render(request, "find/results.html", context)
    return render(request, "find/find.html", context)


def _first(results: Iterable[Result], most: int) -> list[Result]:
    """The first `most` results, and every list among the others."""
    first: list[Result] = []
    for result in results:
        if result.is_list or sum(not earlier.is_list for earlier in first) < most:
            first.append(result)
    return first
