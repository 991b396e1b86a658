"""Reads the rows of a table as people write them: number and product in any order, then name, note and reference."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import astuple, dataclass

from django.utils.translation import gettext

from batches.models import MOST_ROWS
from catalogue.services.index import Index
from catalogue.services.words import joined
from core.sheets import SheetRefused, SheetRow, read_sheet
from counter.services.typed import Typed

_NAMES = {"name", "nama", "customer", "pelanggan", "nama pelanggan", "staff", "karyawan"}
_NUMBERS = {
    *("number", "nomor", "nomer", "no", "no hp", "nomor hp", "nomer hp", "hp", "handphone", "no handphone", "phone"),
    *("phone number", "mobile", "telepon", "no telepon", "nomor telepon", "telp", "no telp", "wa", "no wa", "nomor wa"),
    *("whatsapp", "no whatsapp", "msisdn"),
}
_METERS = {
    *("tujuan", "destination", "no tujuan", "nomor tujuan", "no meter", "nomor meter", "meter", "id meter"),
    *("id pelanggan", "idpel", "no pelanggan", "nomor pelanggan", "customer number"),
}
_WHATS = {"product", "produk", "code", "kode", "kode produk", "denomination", "denom", "nominal", "amount", "jumlah"}
_NOTES = {"note", "catatan", "keterangan"}
_REFERENCES = {"reference", "referensi", "ref", "own reference", "invoice", "id", "no ref", "no referensi"}
COLUMNS = {
    "number": _NUMBERS | _METERS,
    "what": _WHATS,
    "name": _NAMES,
    "note": _NOTES,
    "reference": _REFERENCES,
}
_CELLS = list(COLUMNS)
# The form in which a spreadsheet shows a long number; digits may be lost.
SHORTENED = re.compile(r"(?<!\S)\d(?:[.,]\d+)?E\+?\d{1,2}(?!\S)", re.ASCII | re.IGNORECASE)
_WITH_FRACTION = re.compile(r"(?<!\S)(\d{7,})[.,]0(?!\S)", re.ASCII)
# A mobile number whose first 0 a spreadsheet took away.
_WITHOUT_ZERO = re.compile(r"(?<!\S)(8\d{8,11})(?!\S)", re.ASCII)
# The fewest digits of a number: fewer are a denomination.
_LEAST_DIGITS = 8
# Digits after a space, a dot or a dash that may be an amount: up to 99, 100, 150 …, 5000, 10.000, 12.500 …
_AMOUNT = re.compile(r"\d{1,2}|[1-9]\d[05]|[1-9]\d*[05]00", re.ASCII)
_BETWEEN = re.compile(r"[\s.\-]+")
# A number in these groups is never taken for a shorter number and an amount.
_IN_FOURS = re.compile(r"(?:(?:\+|00)?62[\s.\-]?8\d\d|08\d\d|8\d\d)[\s.\-]\d{4}[\s.\-]\d{4}", re.ASCII)
# "1", "1." and "1)" before a number and a product: perhaps the number of the row in a list.
_PERHAPS_OF_A_LIST = re.compile(r"\d{1,4}[.)]?", re.ASCII)
# "1. 0812…" and "2) 0812…": the number of a row in a list, which is not an amount.
_IN_A_LIST = re.compile(r"\d{1,4}[.)]\s+(?=['+(]*\d)", re.ASCII)
# A spreadsheet that shows 8.12E+10 saves 81200000000: nobody has typed so many zeros in one piece.
_ZEROS = re.compile(r"[+\d]\d*0{7}", re.ASCII)
# Signs that turn an amount into another one, or into none: 5+5, 10%, -10, /10, 5-10, 10-, 1/2, (10). Not 10.000,- and
# "3GB - 30 hari", which many people write.
_ODD_SIGN = re.compile(
    r"\d\s*[^\w\s.,:&()'/−–-]|[^\w\s.,:&()'/−–-]\s*\d"
    r"|^[-−–/]+\s*\d|\s[-−–/]+\d"
    r"|\d\s*[-−–/]+\s*(?:\d|$)|^\(\s*\d[\d.,]*\s*\)$",
    re.ASCII,
)
_AMOUNT_TWICE = re.compile(r"(?<!\S)(\d[\d.,]*?)[.,:]*[\s&]+\1[.,:]*(?!\S)", re.ASCII)
# Shorter words after a product say nothing ("gb", "bu"). "pak" begins a name, though it also begins "paket".
_LEAST_LETTERS = 3
_TITLES = frozenset({"pak", "bapak", "ibu", "mas", "mbak", "bang", "kak"})
_MONEY_WORDS = re.compile(r"\b(?:rp|idr)\.?\s*(?=\d)", re.IGNORECASE)


@dataclass(frozen=True)
class Written:
    """One row as it was written: the line, from 1, and its cells, each cut to the length that a row keeps."""

    line: int
    number: str
    what: str
    name: str = ""
    note: str = ""
    reference: str = ""


def read_rows(text: str) -> list[Written]:
    """The rows of a table, with a heading or without. Raises `SheetRefused` for none, too many, or no number."""
    rows = [_arranged(row) for row in read_sheet(text, COLUMNS, most=MOST_ROWS, must_name=gettext("Number"))]
    if not any(character.isdecimal() for row in rows for character in row.number):
        raise SheetRefused(gettext("No row has a number. Write a number and a product in each row: 081234567890 10."))
    return rows


def digest_of(rows: Sequence[Written]) -> str:
    """A digest of what the rows say, in their order: equal for the same table in any file and format."""
    said = [astuple(row)[1:] for row in rows]
    return hashlib.sha256(json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()


def split_text(text: str) -> tuple[str, str]:
    """A number and the wanted product out of one text: "10 0812…" → "0812…", "10". "" for a missing part."""
    text = _MONEY_WORDS.sub("", text)
    if match := SHORTENED.search(text):
        return match[0], " ".join(f"{text[: match.start()]} {text[match.end() :]}".split())
    typed = Typed.read(_WITHOUT_ZERO.sub(r"0\1", _WITH_FRACTION.sub(r"\1", text)))
    shelf = typed.shelf.value if typed.shelf else ""
    return typed.number, " ".join(filter(None, (shelf, typed.words)))


def doubt_about(number: str) -> str:
    """The uncertain part of a phone or meter number as it was written: "08123456 10" → "08123456 (10?)"; else "".

    At the counter a person sees the number before the sale. Here nobody sees it, so digits after a gap that may be an
    amount are never part of the number, unless it is in groups of four.
    """
    number = number.strip()
    if SHORTENED.fullmatch(number) or _WITH_FRACTION.fullmatch(number) or _IN_FOURS.fullmatch(number):
        return ""
    for gap in reversed([*_BETWEEN.finditer(number)]):
        rest = number[gap.end() :]
        if _AMOUNT.fullmatch(_BETWEEN.sub("", rest)):
            return f"{number[: gap.start()]} ({rest}?)"
    return ""


def has_lost_digits(number: str) -> bool:
    """Whether the number ends in so many zeros that a spreadsheet must have replaced its digits."""
    return bool(_ZEROS.fullmatch(number.strip()))


def is_unclear_amount(what: str) -> bool:
    """Whether an amount has signs next to it that must not be ignored, or is written twice."""
    return bool(_ODD_SIGN.search(what) or _AMOUNT_TWICE.search(what))


def split_name(what: str, index: Index) -> tuple[str, str]:
    """A product and the words after it that may be a name: "10 Bu Ani" → "10", "Bu Ani"; "pln budi" → "pln", "budi".

    No word of the name has a digit or begins a word of the catalogue. Two empty texts if there are no such words.
    """
    words = what.split()
    of_product = [at for at, word in enumerate(words) if re.search(r"\d", word) or _is_of(index, word)]
    start = of_product[-1] + 1 if of_product else len(words)
    if not any(map(_says_something, words[start:])):
        return "", ""
    return " ".join(words[:start]), " ".join(words[start:])


def _is_of(index: Index, word: str) -> bool:
    return _says_something(word) and index.has_beginning(joined(word.casefold().strip(".,")))


def _says_something(word: str) -> bool:
    bare = word.casefold().strip(".,")
    return len(bare) >= _LEAST_LETTERS and bare not in _TITLES


def _arranged(row: SheetRow) -> Written:
    """The cells in their places. Without a heading, number and product may be swapped, or stand in one cell."""
    cells = row.cells
    number, what, name, note, reference = (cells[name] for name in _CELLS)
    number = _IN_A_LIST.sub("", number, count=1) if _IN_A_LIST.match(number) else number
    if number and not row.has_heading and not _is_number(number):
        own, words = split_text(number)
        if own and words:
            # Both are in one cell, so without a heading all other cells are one place to the left.
            if what:
                name, note, reference = what, name, note
            number, what = own, words
        elif _is_number(what):
            is_of_list = _PERHAPS_OF_A_LIST.fullmatch(number) and any(map(str.isdecimal, name))
            number, what = what, f"{number} / {name}" if is_of_list else number
    return Written(row.line, number[:100], what[:100], name[:120], note[:200], reference[:60])


def _is_number(text: str) -> bool:
    """Whether the cell is only a number, or a spreadsheet's version of one."""
    number, words = split_text(text)
    return not words and (bool(SHORTENED.fullmatch(number)) or sum(map(str.isdecimal, number)) >= _LEAST_DIGITS)
