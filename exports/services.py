"""Takes requests for files, writes them in the background, deletes them after a day; keeps a list's filters by name."""

import datetime as dt
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO, Any
from urllib.parse import parse_qs

import structlog
from django.db import models, transaction
from django.db.models import F, Q, QuerySet
from django.utils.formats import number_format
from django.utils.translation import get_language, gettext as _, ngettext, override

from branches.seeing import narrowed
from core import clock
from core.numbers import may_take_whole
from core.publish import publish
from core.rights import Right
from core.search import count_up_to
from core.tables import Table
from exports.errors import TooManyFiles, TooManyRows, TooManyViews
from exports.formats import MOST_ROWS, Fields, write_csv, write_workbook
from exports.models import Export, ExportPart, ExportState, SavedView
from staff.models import User

# The most files of one person that may be under way at once.
MOST_OPEN = 3
MOST_TRIES = 3
# A worker that has written nothing for this long no longer holds its file. Each chunk of rows renews the lease.
LEASE = dt.timedelta(minutes=2)
_CHUNK = 5_000
_PART_BYTES = 1024 * 1024

log = structlog.get_logger()
# At most this many, so that the row of views stays readable, and because each view is counted.
MOST_VIEWS = 8
# Filters that name a customer: only the owner has such a view.
_PERSONAL = {"q", "ends", "customer", "buyer"}


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
    """Have the worker write a file of `rows`; does nothing while the same file is under way.

    It is written in the active language. `task`: the name of the task that takes the export's id and calls
    `write_file`. `whole_numbers`: whether it holds customers' full numbers; the caller has checked the right and the
    second factor. Raises `TooManyRows` if a workbook cannot hold them, `TooManyFiles` if this person waits for several.
    """
    if file_format == Export.Format.XLSX and count_up_to(rows, MOST_ROWS) > MOST_ROWS:
        raise TooManyRows(
            _("More than %(most)s entries do not fit into a workbook. Narrow the days, or take CSV.")
            % {"most": number_format(MOST_ROWS, force_grouping=True)}
        )
    wanted = {
        "list_name": list_name,
        "query": query,
        "file_format": file_format,
        "whole_numbers": whole_numbers,
        "language": get_language() or "",
    }
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


def write_file(
    export_id: int,
    rows: models.QuerySet[Any],
    fields: Fields,
    table: type[Table[Any]],
    *,
    rights: tuple[Right, ...] = (),
) -> None:
    """Write `rows` (oldest first, as they are now) into the file that was asked for.

    `table`: has the words for the fields and their values, for a workbook; CSV has names and codes for scripts.
    `rights`: those that a reader of these fields needs, in place of those that were kept with the request.

    Safe to call twice, late, or not at all: one worker holds the file, and after a killed worker it begins again.
    """
    export = _claim(export_id)
    if export is None:
        return
    export.permission = " ".join(rights) or export.permission
    newest = rows.order_by().aggregate(newest=models.Max("pk"))["newest"] or 0
    rows = rows.filter(pk__lte=newest).order_by("pk")
    write: Callable[..., None] = write_csv
    if export.file_format == Export.Format.XLSX:
        write, fields = partial(write_workbook, words=table.file_words()), table.in_words(fields)
    try:
        export.rows_total = rows.count()
        _hold(export, rows_total=export.rows_total, rows_done=0)
        with tempfile.TemporaryFile() as file, override(export.language or export.owner.language or get_language()):
            write(file, _counted(export, rows), fields)
            _store(export, file)
    except TakenOver:
        log.info("export_taken_over", export=export.pk)


def _claim(export_id: int) -> Export | None:
    """The export, held by this worker; None if another worker holds it, or nothing is left to do."""
    mine = Export.objects.due().filter(pk=export_id)
    if not mine.update(state=ExportState.WRITING, tries=F("tries") + 1, next_try_at=clock.now() + LEASE):
        return None
    export = Export.objects.get(pk=export_id)
    if export.tries > MOST_TRIES:
        Export.objects.filter(pk=export_id).update(state=ExportState.FAILED)
        log.error("export_failed", export=export_id, tries=MOST_TRIES)
        return None
    return export


def _hold(export: Export, **facts: int | str) -> None:
    """Store `facts` and hold the file for another while. Raises `TakenOver` when that came too late."""
    held = Export.objects.filter(pk=export.pk, state=ExportState.WRITING, tries=export.tries)
    if not held.update(next_try_at=clock.now() + LEASE, **facts):
        raise TakenOver


def _counted(export: Export, all_rows: models.QuerySet[Any]) -> Iterator[Any]:
    """The rows, read by key in chunks: no transaction stays open, and the page shows the progress."""
    done = last = 0
    while rows := list(all_rows.filter(pk__gt=last)[:_CHUNK]):
        yield from rows
        done, last = done + len(rows), rows[-1].pk
        _hold(export, rows_done=done, rows_total=max(done, export.rows_total))


def _store(export: Export, file: IO[bytes]) -> None:
    size = file.tell() if file.seekable() else 0
    file.seek(0)
    with transaction.atomic():
        _hold(export, state=ExportState.READY, size=size, permission=export.permission)
        for number, content in enumerate(iter(lambda: file.read(_PART_BYTES), b"")):
            ExportPart.objects.create(export=export, number=number, content=content)


def content_of(export: Export) -> Iterator[bytes]:
    """The bytes of a file that is ready, piece by piece."""
    number = 0
    while part := export.parts.filter(number=number).first():
        yield bytes(part.content)
        number += 1


def missing_rights(export: Export) -> list[Right]:
    """The rights that the file's owner needs to open it and no longer has."""
    person = export.owner
    missing = [Right(name) for name in export.permission.split() if not person.has_perm(name)]
    return [*missing, Right.REVEAL_NUMBERS] if export.whole_numbers and not may_take_whole(person) else missing


def holds_other_branches(export: Export) -> bool:
    """Whether it has the sales of every branch, and its owner has been limited to one since."""
    bound_since = export.owner.bound_since
    return bound_since is not None and export.created_at < bound_since


def tidy_exports() -> None:
    """Delete the files that were kept for a day, and hand out again those that no worker holds."""
    Export.objects.expired().delete()
    for export in Export.objects.due():
        publish(export.task, export.pk)


def views_of(person: User, list_name: str) -> QuerySet[SavedView]:
    """This person's own views of the list, and the shared views of people whom the reader sees."""
    seen = narrowed(User.objects.all())
    views = SavedView.objects.filter(Q(owner=person) | Q(is_shared=True, owner__in=seen), list_name=list_name)
    return views.exclude(name="").select_related("owner")


def may_share(person: User) -> bool:
    """Whether this person may share views with everybody: people who see everybody's sales may."""
    return person.has_perm(Right.VIEW_SHIFTS)


def columns_of(person: User, list_name: str) -> str:
    """The names of the columns that this person has chosen for the list, in their order; empty for the usual ones."""
    chosen = SavedView.objects.filter(owner=person, list_name=list_name, name="").first()
    return chosen.query if chosen else ""


def keep_columns(person: User, list_name: str, names: str) -> None:
    """Show this person these columns of the list from now on; without any, the usual ones."""
    if names:
        SavedView.objects.update_or_create(owner=person, list_name=list_name, name="", defaults={"query": names})
    else:
        SavedView.objects.filter(owner=person, list_name=list_name, name="").delete()


def save_view(*, owner: User, list_name: str, name: str, query: str, is_shared: bool) -> None:
    """Keep the filters under this name, replacing the owner's view of the same name. Raises `TooManyViews`.

    A view that names a customer is never shared.
    """
    with transaction.atomic():
        User.objects.select_for_update(of=("self",), no_key=True).get(pk=owner.pk)
        own = SavedView.objects.filter(owner=owner, list_name=list_name).exclude(name="")
        if own.exclude(name=name).count() >= MOST_VIEWS:
            raise TooManyViews(_("You have %(most)s saved views. Remove one first.") % {"most": MOST_VIEWS})
        is_shared = is_shared and may_share(owner) and not _PERSONAL & parse_qs(query).keys()
        facts = {"query": query, "is_shared": is_shared}
        SavedView.objects.update_or_create(owner=owner, list_name=list_name, name=name, defaults=facts)
