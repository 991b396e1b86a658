"""The worker's own tasks about files."""

from celery import shared_task
from django.http import QueryDict

from branches.seeing import seen_in_branch_of
from core.numbers import seen_by
from exports import services
from exports.listing import listing_named
from exports.models import Export


@shared_task
def tidy_exports() -> None:
    """Delete old files, and take up those whose worker was killed."""
    services.tidy_exports()


@shared_task
def write_list(export_id: int) -> None:
    """Write a list's file that somebody asked for, with the rows that this person finds."""
    export = Export.objects.select_related("owner").filter(pk=export_id).first()
    if export:
        listing, query = listing_named(export.list_name), QueryDict(export.query)
        with seen_by(lambda: export.owner), seen_in_branch_of(lambda: export.owner):
            rows = listing.for_file(listing.find(query, export.owner).qs)
            fields = listing.fields(query, export.owner, whole=export.whole_numbers)
            services.write_file(export_id, rows, fields, listing.table, rights=listing.file_readers(fields))
