"""A person's own files: their progress, and the files themselves."""

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_GET

from core.access import StaffRequest, staff_only
from core.live import Live, seen_keys
from exports import services
from exports.formats import WORKBOOK_TYPE
from exports.listing import closed_words, file_words
from exports.models import Export, ExportState
from exports.tables import ExportTable

_CONTENT_TYPES = {
    Export.Format.CSV: "text/csv; charset=utf-8",
    Export.Format.XLSX: WORKBOOK_TYPE,
}


@staff_only()
@require_GET
def export_list(request: StaffRequest) -> HttpResponse:
    """The files that this person asked for in the last day, newest first; it follows those under way."""
    files = list(request.user.exports.all()[:50])
    context = {"table": _table(files), "live": _live(request, files)}
    return render(request, "exports/export_list.html", context)


@staff_only()
@require_GET
def export_live(request: StaffRequest) -> HttpResponse:
    """The rows of the files under way, when they have changed."""
    files = list(request.user.exports.filter(pk__in=seen_keys(request)))
    live = _live(request, files)
    table = _table([export for export in files if f"row-{export.pk}" in live.news])
    return render(request, "components/live_rows.html", {"live": live, "table": table})


def _table(files: list[Export]) -> ExportTable:
    return ExportTable(files, words=file_words, closed=closed_words)


def _live(request: StaffRequest, files: list[Export]) -> Live:
    parts = {f"row-{export.pk}": (export.state, export.rows_done, export.rows_total) for export in files}
    over = [f"row-{export.pk}" for export in files if not export.is_open]
    return Live(request, reverse("export_live"), parts, over=over)


@staff_only()
@require_GET
def export_download(request: StaffRequest, pk: int) -> HttpResponseBase:
    """The file, for the person who asked for it and may still see its content."""
    export = get_object_or_404(request.user.exports, pk=pk, state=ExportState.READY)
    if services.missing_rights(export):
        raise PermissionDenied
    if services.holds_other_branches(export):
        raise Http404
    return StreamingHttpResponse(
        services.content_of(export),
        content_type=_CONTENT_TYPES[Export.Format(export.file_format)],
        headers={
            "Content-Disposition": f'attachment; filename="{export.file_name}"',
            "Content-Length": str(export.size),
        },
    )
