"""Ask for a file, write it in the background, and forget it after a day."""

from __future__ import annotations

import datetime as dt
import tempfile
from collections.abc import Iterator
from typing import IO, Any

import structlog
from django.db import models, transaction
from django.db.models import F
from django.utils.formats import number_format
from django.utils.translation import get_language, ngettext, override
from django.utils.translation import gettext as _

from core import clock
from core.publish import publish
from core.search import count_up_to
from exports.errors import TooManyFiles, TooManyRows
from exports.formats import MOST_ROWS, Fields, write_csv, write_workbook
from exports.models import Export, ExportPart, ExportState
from staff.models import User

# Files of one person that may be under way at once.
MOST_OPEN = 3
MOST_TRIES = 3
# A worker that wrote nothing for this long holds a file no more. Each chunk of rows renews it.
LEASE = dt.timedelta(minutes=2)
_CHUNK = 5_000
_PART_BYTES = 1024 * 1024

log = structlog.get_logger()


class TakenOver(Exception):
    """Another worker writes this file now."""


def request_file(
    *,
    owner: User,
    list_name: str,
    task: str,
    permission: str,
    query: str,
    file_format: str,
    rows: models.QuerySet[Any],
    whole_numbers: bool = False,
) -> None:
    """Have the worker write a file of `rows`; the same one again while it is under way.

    `task`: the name of the task that takes the export's id and calls `write_file`. `whole_numbers`: whether it holds
    customers' numbers whole: the caller has checked the right and the second factor. Raises `TooManyRows` when a
    workbook cannot hold them, `TooManyFiles` when this person waits for several already.
    """
    if file_format == Export.Format.XLSX and count_up_to(rows, MOST_ROWS) > MOST_ROWS:
        raise TooManyRows(
            _("More than %(most)s entries do not fit into a workbook. Narrow the days, or take CSV.")
            % {"most": number_format(MOST_ROWS, force_grouping=True)}
        )
    wanted = {"list_name": list_name, "query": query, "file_format": file_format, "whole_numbers": whole_numbers}
    with transaction.atomic():
        # one request of a person at a time, so that two clicks make one file
        User.objects.select_for_update(of=("self",), no_key=True).get(pk=owner.pk)
        under_way = owner.exports.open()
        if under_way.filter(**wanted).exists():
            return
        if under_way.count() >= MOST_OPEN:
            raise TooManyFiles(
                ngettext(
                    "%(n)s file is being made for you. Wait until it is ready.",
                    "%(n)s files are being made for you. Wait until one is ready.",
                    MOST_OPEN,
                )
                % {"n": MOST_OPEN}
            )
        export = Export.objects.create(owner=owner, task=task, permission=permission, next_try_at=clock.now(), **wanted)
        transaction.on_commit(lambda: publish(task, export.pk))


def write_file(export_id: int, rows: models.QuerySet[Any], fields: Fields) -> None:
    """Write the rows of `rows` (oldest first, as they are now) into the file that was asked for.

    Safe to call twice, late, or not at all: one worker holds the file, and a killed one's is begun again.
    """
    export = _claim(export_id)
    if export is None:
        return
    newest = rows.order_by().aggregate(newest=models.Max("pk"))["newest"] or 0
    rows = rows.filter(pk__lte=newest).order_by("pk")
    write = write_csv if export.file_format == Export.Format.CSV else write_workbook
    try:
        export.rows_total = rows.count()
        _hold(export, rows_total=export.rows_total, rows_done=0)
        with tempfile.TemporaryFile() as file, override(export.owner.language or get_language()):
            write(file, _counted(export, rows), fields)
            _store(export, file)
    except TakenOver:
        log.info("export_taken_over", export=export.pk)


def _claim(export_id: int) -> Export | None:
    """The export for this worker alone; None when another one holds it, or nothing is left to do."""
    mine = Export.objects.due().filter(pk=export_id)
    if not mine.update(state=ExportState.WRITING, tries=F("tries") + 1, next_try_at=clock.now() + LEASE):
        return None
    export = Export.objects.get(pk=export_id)
    if export.tries > MOST_TRIES:
        Export.objects.filter(pk=export_id).update(state=ExportState.FAILED)
        log.error("export_failed", export=export_id, tries=MOST_TRIES)
        return None
    return export


def _hold(export: Export, **facts: int) -> None:
    """Store `facts` and hold the file for another while. Raises `TakenOver` when that came too late."""
    held = Export.objects.filter(pk=export.pk, state=ExportState.WRITING, tries=export.tries)
    if not held.update(next_try_at=clock.now() + LEASE, **facts):
        raise TakenOver


def _counted(export: Export, all_rows: models.QuerySet[Any]) -> Iterator[Any]:
    """The rows, read by key in chunks: no transaction stays open, and the page shows how far it is."""
    done = last = 0
    while rows := list(all_rows.filter(pk__gt=last)[:_CHUNK]):
        yield from rows
        done, last = done + len(rows), rows[-1].pk
        _hold(export, rows_done=done, rows_total=max(done, export.rows_total))


def _store(export: Export, file: IO[bytes]) -> None:
    size = file.tell() if file.seekable() else 0
    file.seek(0)
    with transaction.atomic():
        _hold(export, state=ExportState.READY, size=size)  # type: ignore[arg-type]
        for number, content in enumerate(iter(lambda: file.read(_PART_BYTES), b"")):
            ExportPart.objects.create(export=export, number=number, content=content)


def content_of(export: Export) -> Iterator[bytes]:
    """The bytes of a file that is ready, piece by piece."""
    number = 0
    while part := export.parts.filter(number=number).first():
        yield bytes(part.content)
        number += 1


def tidy_exports() -> None:
    """Delete the files whose day is over, and hand out again what no worker holds."""
    Export.objects.expired().delete()
    for export in Export.objects.due():
        publish(export.task, export.pk)
