"""The CSV of any bank: its columns, days and amounts. A line without a day, such as a heading, is no booking."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from decimal import Decimal
from typing import Any

from bank.errors import BankRefused
from core.times import YEARS

MOST_ROWS, MOST_COLUMNS, MOST_TEXT, MOST_REFERENCE, MOST_DIGITS = 10_000, 100, 300, 100, 15
# The heading must be among this many first lines.
_HEADING_LINES = 40
# The names that banks give their columns, the surest first: these are enough for BCA, Mandiri and BRI.
_NAMES: dict[str, tuple[str, ...]] = {
    "day": (
        *("tanggal transaksi", "tgl transaksi", "tgl_tran", "tanggal", "tgl"),
        *("transaction date", "posting date", "post date", "date", "value date"),
    ),
    "text": (
        *("keterangan", "uraian transaksi", "uraian", "deskripsi", "desk_tran", "transaksi"),
        *("description", "transaction description", "remark", "remarks", "details"),
    ),
    "amount": ("jumlah", "nominal", "mutasi", "nilai", "amount", "transaction amount"),
    "sign": ("db/cr", "d/k", "d/c", "dr/cr", "cr/db", "jenis", "tipe", "type"),
    "debit": ("debet", "debit", "mutasi_debet", "mutasi debet", "debit amount"),
    "credit": ("kredit", "credit", "mutasi_kredit", "mutasi kredit", "credit amount"),
    "reference": ("reference no", "no referensi", "referensi", "reference number", "reference", "ref no", "ref"),
}
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan",
            "feb peb",
            "mar",
            "apr",
            "may mei",
            "jun",
            "jul",
            "aug agu ags",
            "sep",
            "oct okt",
            "nov nop",
            "dec des",
        ),
        start=1,
    )
    for name in names.split()
}
_END = r"(?=$|[ T,])"
_DAYS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], tuple[int, int, int]]], ...] = (
    (
        re.compile(rf"(\d{{4}})[-/.](\d\d?)[-/.](\d\d?){_END}", re.ASCII),
        lambda day: (int(day[1]), int(day[2]), int(day[3])),
    ),
    (
        re.compile(rf"(\d\d?)[-/. ](\d\d?)[-/. ](\d{{4}}|\d\d){_END}", re.ASCII),
        lambda day: (_year(day[3]), int(day[2]), int(day[1])),
    ),
    (
        re.compile(rf"(\d\d?)[-/. ]([a-z]{{3,}})[-/. ](\d{{4}}|\d\d){_END}", re.IGNORECASE | re.ASCII),
        lambda day: (_year(day[3]), _MONTHS.get(day[2][:3].lower(), 0), int(day[1])),
    ),
    (re.compile(rf"(\d\d?)[-/](\d\d?){_END}", re.ASCII), lambda day: (0, int(day[2]), int(day[1]))),
)
_PLUS, _MINUS = {"cr", "c", "k", "kredit", "credit", "+"}, {"db", "d", "dr", "debet", "debit", "-"}
_AMOUNT = re.compile(
    r"(?:rp|idr)?\.?\s*(\(?[-+]?)\s*(?:rp|idr)?\.?\s*([\d.,]*\d)\s*(\)?)\s*([a-z]*|[-+])\.?", re.IGNORECASE | re.ASCII
)
# Three digits after a separator are thousands; one, two and four or more are sen.
_DECIMALS = re.compile(r"[.,](?:\d{1,2}|\d{4,})\Z")
_WHOLE = re.compile(r"\d*|\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+|\s+")


@dataclass(frozen=True)
class Columns:
    """The column of each part of a booking, from 0; None if it has none. `heading`: the cells of the line of names."""

    day: int = 0
    text: int = 1
    amount: int | None = None
    sign: int | None = None
    debit: int | None = None
    credit: int | None = None
    reference: int | None = None
    heading: tuple[str, ...] = ()

    @classmethod
    def of(cls, kept: dict[str, Any]) -> Columns:
        """The columns of a dictionary `kept` that `as_dict` made."""
        return cls(**kept | {"heading": tuple(kept["heading"])})

    def as_dict(self) -> dict[str, Any]:
        """The columns as a dictionary, for a column of JSON."""
        return asdict(self)

    @property
    def has_amount(self) -> bool:
        """Whether an amount can be read."""
        return self.amount is not None or (self.debit is not None and self.credit is not None)


#: The columns that a person chooses, in this order.
PARTS = tuple(field.name for field in fields(Columns) if field.name != "heading")


@dataclass(frozen=True)
class Booking:
    """A row of the bank. `amount`: whole rupiah, below zero when it left the account."""

    day: dt.date
    amount: int
    text: str
    reference: str


def lines_of(content: bytes) -> list[list[str]]:
    """The lines of a CSV file with their cells. Raises `BankRefused`."""
    if b"\x00" in content:
        raise BankRefused("no_text")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", "replace")
    try:
        ways = {mark: [*csv.reader(io.StringIO(text, newline=""), delimiter=mark)] for mark in ",;\t|"}
    except csv.Error:
        raise BankRefused("no_text") from None
    mark = max(ways, key=lambda mark: (sum(len(line) > 2 for line in ways[mark]), sum(map(len, ways[mark]))))
    lines = ways[mark]
    if open_quote := _line_of_open_quote(text, mark):
        raise BankRefused("open_quote", open_quote)
    if len(lines) > MOST_ROWS:
        raise BankRefused("too_many")
    if all(len(line) < 3 for line in lines) or any(len(line) > MOST_COLUMNS for line in lines):
        raise BankRefused("no_text")
    return lines


def _line_of_open_quote(text: str, mark: str) -> int:
    """The line whose quote would swallow the rows below it, because nothing closes it; 0 without one."""
    # Two empty lines behind the last row: a quote that is opened there swallows them.
    source = io.StringIO(f"{text}\n\n", newline="")
    reader, before = csv.reader(source, delimiter=mark, strict=True), 0
    while True:
        try:
            next(reader)
        except StopIteration:
            return 0
        except csv.Error:  # inside one line a quote may be a letter of the cell
            if reader.line_num > before + 1:
                return before + 1
        before = reader.line_num


def columns_of(lines: Sequence[Sequence[str]]) -> Columns | None:
    """The columns by their names; None if the names do not say enough."""
    for line in lines[:_HEADING_LINES]:
        found = _named(line)
        if found and found.has_amount:
            return found
    return None


def _named(line: Sequence[str]) -> Columns | None:
    names = heading_of(line)
    where = {
        part: names.index(name) for part, known in reversed(_NAMES.items()) for name in reversed(known) if name in names
    }
    if not {"day", "text"} <= where.keys():
        return None
    if "amount" in where and "sign" not in where and names[where["amount"] + 1 : where["amount"] + 2] == ("",):
        where["sign"] = where["amount"] + 1  # BCA writes CR or DB in a column without a name
    return Columns(**where, heading=names)


def heading_of(line: Sequence[str]) -> tuple[str, ...]:
    """The cells of a line as names: small letters, without brackets and dots."""
    return tuple(" ".join(re.sub(r"\(.*?\)|[.:*]", " ", cell).lower().split()) for cell in line)


def count_below_heading(lines: Sequence[Sequence[str]], columns: Columns) -> int:
    """The number of lines below the heading that are not empty; a first line without a day counts, too."""
    filled = [line for line in lines if any(line)]
    names = [*map(heading_of, filled)]
    if columns.heading in names:
        return len(filled) - names.index(columns.heading) - 1
    return len(filled) - sum(not has_day(line) for line in filled[:1])


def bookings_of(lines: Sequence[Sequence[str]], columns: Columns, today: dt.date) -> Iterator[Booking]:
    """The bookings of the file. Raises `BankRefused` for a line with a day if the day or amount cannot be read."""
    texts = _same_name(columns)
    for number, line in enumerate(lines, start=1):

        def cell(index: int | None, line: Sequence[str] = line) -> str:
            return _tidy(line[index]) if index is not None and index < len(line) else ""

        day = day_of(cell(columns.day), today, number)
        if day is None:
            continue
        if amount := _amount(columns, cell, number):
            text = " ".join(filter(None, map(cell, texts)))
            yield Booking(day, amount, text[:MOST_TEXT], cell(columns.reference)[:MOST_REFERENCE])


def column_of_days(lines: Sequence[Sequence[str]]) -> int | None:
    """The first column that holds days in the most lines; None if none does."""
    found = Counter(at for line in lines for at, cell in enumerate(line) if _is_like_a_day(_tidy(cell)))
    return max(sorted(found), key=found.__getitem__, default=None)


def has_day(line: Sequence[str]) -> bool:
    """Whether a cell of the line looks like a day: a booking has such a cell, a heading or a sum has none."""
    return any(_is_like_a_day(_tidy(cell)) for cell in line)


def _is_like_a_day(cell: str) -> bool:
    return any(pattern.match(cell) for pattern, _numbers in _DAYS)


def _same_name(columns: Columns) -> list[int]:
    """The columns of the text: all that have its name, because Mandiri has two."""
    if columns.text >= len(columns.heading) or not columns.heading[columns.text]:
        return [columns.text]
    return [at for at, name in enumerate(columns.heading) if name == columns.heading[columns.text]]


def _tidy(cell: str) -> str:
    return _CONTROL.sub(" ", cell).strip().lstrip("'").strip()


def day_of(cell: str, today: dt.date, line: int = 0) -> dt.date | None:
    """The day; without a year, the latest up to today. None for other texts.

    Raises `BankRefused` for 31 February, a later day, and a year before the shop's.
    """
    for pattern, numbers in _DAYS:
        if match := pattern.match(cell):
            year, month, day = numbers(match)
            latest = today + dt.timedelta(days=1 if year else 0)
            for tried_year in (year,) if year else (today.year, today.year - 1):
                with suppress(ValueError):
                    if (found := dt.date(tried_year, month, day)) <= latest and found.year in YEARS:
                        return found
            raise BankRefused("bad_day", line)
    return None


def _year(digits: str) -> int:
    return int(digits) + (2000 if len(digits) == 2 else 0)


def _amount(columns: Columns, cell: Callable[[int | None], str], line: int) -> int:
    if columns.amount is None:
        came, left = amount_of(cell(columns.credit) or "0", line), amount_of(cell(columns.debit) or "0", line)
        return abs(came) - abs(left)
    amount = amount_of(cell(columns.amount) or "0", line)
    sign = cell(columns.sign).lower().rstrip(".")
    if sign in _MINUS:
        return -abs(amount)
    return abs(amount) if sign in _PLUS else amount


def amount_of(cell: str, line: int = 0) -> int:
    """Whole rupiah of "1.234.567,00", "1,234,567.00 CR" or "-50000"; sen are rounded. Raises `BankRefused`.

    Also for "1500000.000" and "1,500,000.000", which nobody can tell from a thousand times as much.
    """
    match = _AMOUNT.fullmatch(cell.strip()) if cell.strip(" -.,") else None
    if match is None:
        if cell.strip(" -.,0") == "":
            return 0
        raise BankRefused("bad_amount", line)
    before, digits, bracket, after = match.groups()
    after = after.lower()
    decimals = _DECIMALS.search(digits)
    before_sen = digits[: decimals.start()] if decimals else digits
    whole = re.sub(r"[.,]", "", before_sen) or "0"
    amount = round(Decimal(f"{whole}.{decimals[0][1:] if decimals else 0}"))
    thousands = _WHOLE.fullmatch(before_sen)
    is_written_so = thousands is not None and not (decimals and decimals[0][0] == thousands[1])
    if not is_written_so or len(whole) > MOST_DIGITS or (after and after not in _PLUS | _MINUS):
        raise BankRefused("bad_amount", line)
    return -amount if "-" in before or bracket or after in _MINUS else amount
