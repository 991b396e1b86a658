"""Tables as spreadsheets save them: any separator, any usual encoding, with or without a heading."""

import pytest

from core.sheets import SheetRefused, read_sheet, text_of

COLUMNS = {"name": {"name", "nama"}, "number": {"number", "nomor"}}


def rows(text, most=10):
    return [(row.line, *row.cells.values()) for row in read_sheet(text, COLUMNS, most=most)]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_any_separator_is_understood(separator):
    text = separator.join(["Nama", "Nomor"]) + "\r\n\r\n" + separator.join(['"Bu; Sari, Ibu"', "0812"]) + "\r\n"

    assert rows(text) == [(3, "Bu; Sari, Ibu", "0812")]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_any_usual_encoding_is_understood(encoding):
    assert rows(text_of("nama,nomor\nAndré,0812\n".encode(encoding))) == [(2, "André", "0812")]


def test_without_a_heading_the_columns_stand_in_their_order():
    assert rows("Bu Sari,0812\n\nPak Budi\n") == [(1, "Bu Sari", "0812"), (3, "Pak Budi", "")]


def test_columns_of_one_name_are_one_cell_and_unknown_ones_are_left_out():
    assert rows("No,Nomor 1,Nama,Nomor 2\n1,0812,Bu Sari,0813\n") == [(2, "Bu Sari", "0812 / 0813")]


def test_what_nobody_sees_is_taken_away():
    assert rows("Bu\u00a0Sari ,'0812\u200b\u202c\n") == [(1, "Bu Sari", "0812")]


@pytest.mark.parametrize("text", ["", "nama,nomor\n", "a\nb\nc\n", "x" * 140_000])
def test_no_rows_too_many_or_no_table_is_refused(text):
    with pytest.raises(SheetRefused):
        rows(text, most=2)


def test_a_workbook_is_refused():
    with pytest.raises(SheetRefused):
        text_of(b"PK\x03\x04")
