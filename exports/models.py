"""The things that people keep of a list: files by the worker, for a day, and saved views. Both are in the database."""

from __future__ import annotations

import datetime as dt
from urllib.parse import parse_qsl

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from core import clock
from core.looks import LookChoices

KEPT_FOR = dt.timedelta(hours=24)


def named_by_days(list_name: str, query: str, at: dt.datetime, file_format: str) -> str:
    """The name of a list's file: "orders-2026-10.csv" for a whole month, "orders-2026-11-01_2026-11-27.csv" for days.

    `query`: the filters as `ListFilter.as_query`. Without a first day the moment: "orders-2026-11-22-1405.csv".
    """
    values, now = dict(parse_qsl(query)), timezone.localtime(at)
    try:
        first = dt.date.fromisoformat(values.get("since", ""))
        last = dt.date.fromisoformat(values.get("until", "") or now.date().isoformat())
    except ValueError:
        return f"{list_name}-{now:%Y-%m-%d-%H%M}.{file_format}"
    is_month = first.day == 1 == (last + dt.timedelta(days=1)).day and f"{first:%Y-%m}" == f"{last:%Y-%m}"
    days = f"{first:%Y-%m}" if is_month else f"{first}" if first == last else f"{first}_{last}"
    return f"{list_name}-{days}.{file_format}"


class ExportState(LookChoices):
    """The progress of a file."""

    WAITING = "waiting", "clock", "pending", _("Waiting")
    WRITING = "writing", "loader", "pending", _("Being written")
    READY = "ready", "circle-check", "good", _("Ready")
    FAILED = "failed", "alert-triangle", "bad", _("Not made")


OPEN = (ExportState.WAITING, ExportState.WRITING)


class ExportQuerySet(models.QuerySet["Export"]):
    def open(self) -> ExportQuerySet:
        """Files that are still to be written."""
        return self.filter(state__in=OPEN)

    def due(self) -> ExportQuerySet:
        """Open files that no worker holds: their message was lost, or their worker was killed."""
        return self.open().filter(next_try_at__lte=clock.now())

    def expired(self) -> ExportQuerySet:
        """Files that were kept for a day."""
        return self.filter(created_at__lt=timezone.now() - KEPT_FOR)


class Export(models.Model):
    """One file that a person asked for: its list, filters and progress."""

    class Format(models.TextChoices):
        CSV = "csv", "CSV"
        XLSX = "xlsx", "XLSX"

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="exports")
    list_name = models.CharField(max_length=40, help_text="The file's name begins with it.")
    task = models.CharField(max_length=100, help_text="The task of the list's room that writes it.")
    permission = models.CharField(max_length=100, help_text="What its reader needs, also when it is downloaded.")
    query = models.TextField(blank=True, help_text="The list's filters, as in its address.")
    file_format = models.CharField(max_length=4, choices=Format.choices)
    whole_numbers = models.BooleanField(default=False, db_default=False, help_text="It holds customers' numbers whole.")
    language = models.CharField(
        max_length=10, blank=True, default="", db_default="", help_text="The language of the page that asked for it."
    )
    state = models.CharField(max_length=10, choices=ExportState.choices, default=ExportState.WAITING)
    rows_total = models.BigIntegerField(default=0)
    rows_done = models.BigIntegerField(default=0)
    size = models.BigIntegerField(default=0, help_text="Bytes, once it is ready.")
    tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(default=timezone.now, help_text="Until then a worker holds it.")
    created_at = models.DateTimeField(default=timezone.now)

    objects = ExportQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["next_try_at"], condition=Q(state__in=OPEN), name="export_open"),
            models.Index(fields=["created_at"], name="export_created"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(rows_done__lte=F("rows_total")), name="export_rows_done"),
        ]

    def __str__(self) -> str:
        return self.file_name

    @property
    def file_name(self) -> str:
        """The name under which a browser saves it, by its days."""
        return named_by_days(self.list_name, self.query, self.created_at, self.file_format)

    @property
    def is_open(self) -> bool:
        """Whether it is still to be written."""
        return self.state in OPEN

    @property
    def badge(self) -> SafeString:
        """Its state as text, icon and colour."""
        return ExportState(self.state).badge


class ExportPart(models.Model):
    """A piece of a file's bytes."""

    export = models.ForeignKey(Export, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField()
    content = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["export", "number"], name="export_part_once")]

    def __str__(self) -> str:
        return f"{self.export} {self.number}"


class SavedView(models.Model):
    """The filters of a list under a name: a person's own, or shared with everybody who sees the list.

    The view without a name holds the columns that the person has chosen for the list.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views")
    list_name = models.CharField(max_length=40, help_text="The list's name, with which its files' names begin.")
    name = models.CharField(_("name"), max_length=40)
    query = models.TextField(help_text="As in the list's address; its days stay relative.")
    is_shared = models.BooleanField(_("for everybody"), default=False)

    class Meta:
        ordering = ["name", "pk"]
        constraints = [models.UniqueConstraint(fields=["owner", "list_name", "name"], name="saved_view_once")]

    def __str__(self) -> str:
        return self.name
