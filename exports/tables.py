"""A person's files as a list."""

from collections.abc import Callable, Iterable

from django.urls import reverse
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy as _

from core.tables import Table, cell_from, column
from core.times import moment
from exports.models import Export


class ExportTable(Table[Export]):
    """Files of one person."""

    caption = _("Your files, newest first")

    def __init__(
        self, rows: Iterable[Export], *, words: Callable[[Export], str], closed: Callable[[Export], str]
    ) -> None:
        """`words`: the function with the words for a file's content; `closed`: that with the reason to keep it."""
        super().__init__(rows)
        self.words, self.closed = words, closed

    @column(_("State"), phone="1 left")
    def state(self, export: Export) -> SafeString:
        return export.badge

    @column(_("File"), phone="2 wide")
    def file(self, export: Export) -> SafeString:
        """Its list and filters, its name, and whether it has customers' full numbers."""
        whole = gettext("full numbers") if export.whole_numbers else ""
        return format_html(
            '{}<div class="mono sub">{}</div><div class="sub">{}</div>', self.words(export), export.file_name, whole
        )

    @column(_("Rows"), phone="3 wide")
    def progress(self, export: Export) -> SafeString:
        """The number of written rows, as a bar while it grows."""
        return cell_from("exports/progress.html", export=export)

    @column(_("Asked for"), css="sub", phone="1 right")
    def time(self, export: Export) -> SafeString:
        return moment(export.created_at)

    @column(_("Download"), css="untitled", phone="4 wide")
    def download(self, export: Export) -> str:
        """The link, or why its owner may no longer open the file."""
        if export.state != "ready":
            return ""
        if words := self.closed(export):
            return format_html('<span class="sub">{}</span>', words)
        return format_html(
            '<a class="btn btn-plain" href="{}" data-no-busy>{} <span class="sub">{} MB</span></a>',
            reverse("export_download", args=[export.pk]),
            gettext("Download"),
            number_format(max(export.size / 1_000_000, 0.1), 1),
        )
