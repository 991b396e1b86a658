"""Lists as tables in code: one definition gives the columns, the cards on a phone, and the fields of a file."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from django.db.models import Model
from django.template.loader import render_to_string
from django.utils.formats import localize
from django.utils.functional import cached_property
from django.utils.html import conditional_escape, escape, format_html
from django.utils.safestring import SafeString

from core.rights import Right

M = TypeVar("M", bound=Model)


@dataclass(frozen=True)
class Column:
    """One column. `css`: further classes of its cells. `fields`: the fields of `export` that it is in the list's file.

    `is_extra`: shown only to people who choose it. `stays`: it is the row's link, so always shown. `right`: needed to
    see it, in the list and in its file. `when`: whether it says anything in this shop.

    `phone`: where the cell stands on the card that a row becomes on a phone, as line and side ("1 left", "1 right",
    "2 wide"), or "none".
    """

    cell: Callable[[Any, Any], Any]
    header: Any
    css: str
    phone: str
    fields: tuple[str, ...] = ()
    is_extra: bool = False
    stays: bool = False
    right: Right | None = None
    when: Callable[[], bool] = lambda: True

    @property
    def name(self) -> str:
        """Its name in the table's class: the cells carry it as the class `c-NAME`."""
        return self.cell.__name__

    @cached_property
    def opening(self) -> str:
        """The tag that opens each of its cells."""
        return f'<td class="c-{self.name} {self.css}" data-phone="{self.phone}">'


def column(
    header: Any, *, css: str = "", phone: str = "wide", **facts: Any
) -> Callable[[Callable[[Any, Any], Any]], Column]:
    """Make a method `(table, row) -> text or HTML` a column of its table."""
    return lambda cell: Column(cell=cell, header=header, css=css, phone=phone, **facts)


@dataclass(frozen=True)
class Row:
    """One row as the page shows it; `id` names it there. `marks`: attributes that scripts read, with their dash.

    `heading`: a line above it, which begins a group of rows.
    """

    id: str
    cells: list[tuple[Column, Any]]
    marks: str = ""
    heading: Any = ""

    def as_html(self, swap: str = "") -> SafeString:
        """Its element; `swap`: one more attribute. A template takes several times longer for 50 rows."""
        cells = (f"{column.opening}{conditional_escape(localize(content))}</td>" for column, content in self.cells)
        attributes = f'id="{escape(self.id)}"{conditional_escape(self.marks)}{conditional_escape(swap)}'
        group = f'<th scope="colgroup" colspan="{len(self.cells)}">{conditional_escape(self.heading)}</th>'
        above = f'<tr class="row-group">{group}</tr>' if self.heading else ""
        return SafeString(f"{above}<tr {attributes}>{''.join(cells)}</tr>")


class Table(Generic[M]):
    """The parent of every list: rows of the database, shown by the columns that a subclass defines in their order.

    `export`: the columns of the list's file, name → value of a row; empty if there is no file. `export_whole`: the same
    with full customers' numbers, if the file has any. `export_words`: the words for fields that no column's head names
    (`file_words`); None: every field has its own name. `export_shown`: the values that a workbook says in words, as
    the page does, where `export` has codes for scripts. `prefix`: begins the names of the rows on the page; a page with
    two tables of the same rows gives each its own. `columns`: see `chosen`.
    """

    caption: ClassVar[Any]
    every_column: ClassVar[list[Column]]
    columns: list[Column]  # of a table; a class has the usual ones
    export: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}
    export_whole: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}
    export_words: ClassVar[dict[str, Any] | None] = None
    export_shown: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}

    def __init_subclass__(cls) -> None:
        cls.every_column = [value for value in vars(cls).values() if isinstance(value, Column)]
        cls.columns = [column for column in cls.every_column if not column.is_extra]

    @classmethod
    def chosen(cls, names: str) -> list[Column]:
        """The columns with these names (with a comma between them), in their order; the usual ones for none."""
        by_name = {column.name: column for column in cls.every_column}
        return [by_name[name] for name in names.split(",") if name in by_name] or cls.columns

    @classmethod
    def file_fields(cls, names: str, *, whole: bool = False) -> Mapping[str, Callable[[Any], Any]]:
        """The fields of a file (`export`, `export_whole`); only those of the chosen columns if any are chosen."""
        fields = cls.export_whole if whole else cls.export
        if names:
            return {field: fields[field] for column in cls.chosen(names) for field in column.fields}
        nothing = {field for column in cls.every_column if not column.when() for field in column.fields}
        return {field: value for field, value in fields.items() if field not in nothing}

    @classmethod
    def file_words(cls) -> Mapping[str, Any]:
        """The words for the fields of its file: `export_words`, else the head of the column that begins with it."""
        if cls.export_words is None:
            return {}
        return {column.fields[0]: column.header for column in cls.every_column if column.fields} | cls.export_words

    @classmethod
    def in_words(cls, fields: Mapping[str, Callable[[Any], Any]]) -> Mapping[str, Callable[[Any], Any]]:
        """The same fields as a workbook holds them: with words where CSV has codes (`export_shown`)."""
        return {name: cls.export_shown.get(name, value) for name, value in fields.items()}

    def __init__(self, rows: Iterable[M], *, prefix: str = "row", columns: str = "") -> None:
        self.rows = list(rows)
        self.prefix, self.columns = prefix, self.chosen(columns)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        """The rows as `components/table.html` needs them."""
        for row in self.rows:
            cells = [(column, column.cell(self, row)) for column in self.columns]
            yield Row(id=self.row_id(row), cells=cells, marks=self.row_marks(row))

    def row_id(self, row: Model) -> str:
        """The row's name on the page, e.g. "row-12"; a live list asks again by it."""
        return f"{self.prefix}-{row.pk}"

    def row_marks(self, row: M) -> SafeString:
        """Facts of the row for a script, as attributes of its element; usually none."""
        return SafeString()


def shortened(text: str, most: int) -> str:
    """The text, shortened to `most` letters. Django's `Truncator` takes as long as the rest of a row."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def row_link(url: str, words: object, *, css: str = "row-link") -> SafeString:
    """The link that the whole row leads to; the arrow keys of a search stop at it."""
    return format_html('<a class="{}" href="{}" data-pick>{}</a>', css, url, words)


def cell_from(template: str, **facts: Any) -> SafeString:
    """A cell that is too long to be written in Python; without the space around it, so that an empty one is empty."""
    return SafeString(render_to_string(template, facts).strip())
