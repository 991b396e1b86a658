"""The worker's task for the books' pages."""

from celery import shared_task
from django.http import QueryDict

from exports.models import Export
from exports.services import write_file
from ledger.filters import StatementFilter
from ledger.models import Entry
from ledger.tables import StatementTable


@shared_task
def write_statement(export_id: int) -> None:
    """Write the statement as the file that somebody asked for."""
    export = Export.objects.filter(pk=export_id).first()
    if export:
        filtered = StatementFilter(QueryDict(export.query), queryset=Entry.objects.with_actors())
        write_file(export_id, filtered.qs, StatementTable.export, StatementTable)
