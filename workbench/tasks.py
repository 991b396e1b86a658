"""The workers' tasks for the workbench, and the files that they write."""

from celery import shared_task
from django.http import QueryDict

from audit.models import AuditEvent
from exports.models import Export
from exports.services import write_file
from workbench.filters import AuditFilter
from workbench.services.forgetting import forget_old_exchanges as forget
from workbench.tables import AuditTable


@shared_task
def write_audit(export_id: int) -> None:
    """Write the file of the activity log that a person asked for."""
    export = Export.objects.filter(pk=export_id).first()
    if export:
        filtered = AuditFilter(QueryDict(export.query), queryset=AuditEvent.objects.select_related("person"))
        fields = AuditTable.export_whole if export.whole_numbers else AuditTable.export
        write_file(export_id, filtered.qs, fields, AuditTable)


@shared_task
def forget_old_exchanges() -> None:
    """Delete the exchanges that are no longer kept."""
    forget()
