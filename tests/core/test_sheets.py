"""Tables as spreadsheets save them: any separator, any usual encoding, with or without a heading."""

import io
import re
import zipfile

import pytest
import xlsxwriter

from core.sheets import SheetRefused, read_sheet, text_of

COLUMNS = {"name": {"name", "nama"}, "number": {"number", "nomor"}}


def rows(text, most=10):
    return [(row.line, *row.cells.values()) for row in read_sheet(text, COLUMNS, most=most)]


def test_any_separator_and_any_usual_encoding_are_understood():
    for separator in (",", ";", "\t"):
        text = separator.join(["Nama", "Nomor"]) + "\r\n\r\n" + separator.join(['"Bu; Sari, Ibu"', "0812"]) + "\r\n"
        assert rows(text) == [(3, "Bu; Sari, Ibu", "0812")], separator
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        assert rows(text_of("nama,nomor\nAndré,0812\n".encode(encoding))) == [(2, "André", "0812")], encoding


def test_without_a_heading_the_columns_stand_in_their_order():
    assert rows("Bu Sari,0812\n\nPak Budi\n") == [(1, "Bu Sari", "0812"), (3, "Pak Budi", "")]


def test_without_a_heading_each_row_has_its_own_separator():
    text = 'Bu Sari, Depok;081290000001\nPak Budi,081290000002\n"Bu\nAni; Ciawi",081290000003\nEdo\t0812\n'

    assert rows(text) == [
        (1, "Bu Sari, Depok", "081290000001"),
        (2, "Pak Budi", "081290000002"),
        (3, "Bu Ani; Ciawi", "081290000003"),
        (5, "Edo", "0812"),
    ]


def test_the_separator_of_a_heading_holds_for_all_rows():
    assert rows("Nama;Nomor\nSari, Budi, Ani;0812\n") == [(2, "Sari, Budi, Ani", "0812")]


def test_columns_of_one_name_are_one_cell_and_unknown_ones_are_left_out():
    assert rows("No,Nomor 1,Nama,Nomor 2\n1,0812,Bu Sari,0813\n") == [(2, "Bu Sari", "0812 / 0813")]


def test_what_nobody_sees_is_taken_away():
    assert rows("Bu\u00a0Sari ,'0812\u200b\u202c\n") == [(1, "Bu Sari", "0812")]


def test_no_rows_too_many_or_no_table_is_refused():
    for text in ("", "nama,nomor\n", "a\nb\nc\n", "x" * 140_000):
        with pytest.raises(SheetRefused):
            rows(text, most=2)


def workbook(*cells: tuple[int, int, object]) -> bytes:
    """A workbook with these cells: row, column, value."""
    content = io.BytesIO()
    with xlsxwriter.Workbook(content, {"in_memory": True}) as book:
        sheet = book.add_worksheet()
        for row, column, value in cells:
            sheet.write(row, column, value)
    return content.getvalue()


MANIFEST = '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'


def open_document(rows: str) -> bytes:
    """An ODS workbook with these rows."""
    kinds = {"office": "office:1.0", "table": "table:1.0", "text": "text:1.0"}
    names = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{kind}"' for name, kind in kinds.items())
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", MANIFEST)
        archive.writestr(
            "content.xml",
            f"<office:document-content {names}><office:body><office:spreadsheet>"
            f'<table:table table:name="1">{rows}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return content.getvalue()


ODS_NUMBER = '<table:table-cell office:value-type="float" office:value="81234567890"/>'
ODS_ROW = f"<table:table-row>{ODS_NUMBER}</table:table-row>"
EMPTY_CELLS = '<table:table-cell table:number-columns-repeated="16384"/>'
ODS_REST = f'<table:table-row table:number-rows-repeated="1048000">{EMPTY_CELLS}</table:table-row>'


def test_a_workbook_gives_its_numbers_as_they_are():
    content = workbook((0, 0, "Nama"), (0, 1, "Nomor"), (1, 0, "Bu Sari"), (1, 1, 81234567890), (2, 1, 1.5))

    assert rows(text_of(content)) == [(2, "Bu Sari", "81234567890"), (3, "", "1.5")]


def test_a_number_with_more_digits_than_a_spreadsheet_keeps_is_shown_as_shortened():
    assert rows(text_of(workbook((0, 0, "Bu Sari"), (0, 1, 12345678901234567890)))) == [
        (1, "Bu Sari", "1.23456789012346E+19")
    ]


def test_an_open_document_is_read_without_its_empty_rest():
    content = open_document(f"{ODS_ROW}{ODS_REST}")

    assert text_of(content) == "81234567890\n"


HIDDEN_ROW = '<row r="2" hidden="1"><c r="A2"><v>2</v></c></row>'
ODS_TEXT = '<table:table-cell office:value-type="string"><text:p>Bu Sari</text:p></table:table-cell>'


def test_a_row_that_the_sheet_hides_is_never_read_silently():
    for content in (
        rewritten(f'<row r="1"><c r="A1"><v>1</v></c></row>{HIDDEN_ROW}'),
        rewritten(f'<row r="1"><c r="A1"><v>1</v></c></row>{HIDDEN_ROW}', "xl/other/sheet1.xml"),
        open_document(f'{ODS_ROW}<table:table-row table:visibility="filter">{ODS_TEXT}</table:table-row>'),
    ):
        with pytest.raises(SheetRefused, match="hidden"):
            text_of(content)


def test_hidden_rows_with_nothing_in_them_or_of_another_sheet_change_nothing():
    content = io.BytesIO()
    with xlsxwriter.Workbook(content, {"in_memory": True}) as book:
        shown, lists = book.add_worksheet("Jual & isi"), book.add_worksheet("Daftar")
        for sheet in (shown, lists):
            sheet.write(0, 0, "Nama")
            sheet.write(1, 0, "Bu Sari")
        shown.set_row(2, options={"hidden": True})
        lists.set_row(1, options={"hidden": True})

    assert text_of(content.getvalue()) == "Nama\nBu Sari\n"


FAR_DOWN, FARTHEST = ("A", 25_000), ("XFD", 1_048_576)


def rewritten(sheet_data: str, path: str = "xl/worksheets/sheet1.xml") -> bytes:
    """A workbook whose only sheet has these rows, at this place in the archive."""
    content = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook((0, 0, 1)))) as plain, zipfile.ZipFile(content, "w") as archive:
        for name in plain.namelist():
            part = plain.read(name).decode().replace("worksheets/sheet1.xml", path.removeprefix("xl/"))
            part = re.sub("<sheetData>.*</sheetData>", f"<sheetData>{sheet_data}</sheetData>", part)
            archive.writestr(path if name == "xl/worksheets/sheet1.xml" else name, part)
    return content.getvalue()


def test_a_far_cell_is_refused_however_it_is_written():
    near, usual = '<row r="1"><c r="A1"><v>1</v></c></row>', "xl/worksheets/sheet1.xml"
    for cell, path in (
        ('<row r="{row}"><c r="{column}{row}"><v>1</v></c></row>', usual),
        ("<row r='{row}'><c r='{column}{row}'><v>1</v></c></row>", usual),
        ('<row r = "{row}"><c r = "{column}{row}"><v>1</v></c></row>', usual),
        ('<row r="{row}"><c r="{column}{row}"><v>1</v></c></row>', "xl/other/sheet1.xml"),
        ('<row r="{row}"><c><v>1</v></c></row>', usual),
    ):
        assert text_of(rewritten(near, path)) == "1\n"
        for column, row in (FAR_DOWN, FARTHEST):
            with pytest.raises(SheetRefused, match="too large"):
                text_of(rewritten(near + cell.format(column=column, row=row), path))


@pytest.mark.parametrize("sheet", ["<row><c><v>1</v></c></row>" * 25_000, f"<row>{'<c><v>1</v></c>' * 500}</row>"])
def test_too_many_cells_without_a_place_are_refused(sheet):
    with pytest.raises(SheetRefused, match="too large"):
        text_of(rewritten(sheet))


@pytest.mark.parametrize("says", [300_000_000, 1_000])
def test_a_part_that_unpacks_to_all_memory_is_refused_whatever_it_says(says):
    content, texts = io.BytesIO(), "xl/sharedStrings.xml"
    with (
        zipfile.ZipFile(io.BytesIO(workbook((0, 0, "Nama")))) as plain,
        zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        for name in plain.namelist():
            begin, _text, end = plain.read(name).partition(b"Nama")
            with archive.open(name, "w") as part:
                part.write(begin)
                for _megabyte in range(300 if name == texts else 0):
                    part.write(b"x" * 1_000_000)
                part.write(end)
        archive.getinfo(texts).file_size = says

    with pytest.raises(SheetRefused):
        text_of(content.getvalue())


def test_a_workbook_that_unpacks_to_a_long_text_is_refused():
    with pytest.raises(SheetRefused, match="too large"):
        text_of(workbook(*((row, 0, "x" * 30_000) for row in range(200))))


def test_a_workbook_that_is_none_or_would_take_all_memory_is_refused():
    for content in (
        b"PK\x03\x04",
        workbook((0, 0, 1), (30_000, 0, 1)),
        workbook((0, 0, 1), (0, 500, 1)),
        open_document(f"{ODS_ROW}{ODS_REST}{ODS_ROW}"),
        open_document(f"<table:table-row>{EMPTY_CELLS}{ODS_NUMBER}</table:table-row>"),
    ):
        with pytest.raises(SheetRefused):
            text_of(content)


def test_a_quote_that_nobody_closes_loses_no_row():
    for text in (
        'Bu Sari;0811\nPak Budi;"0812\nEdo;0813\n',  # the last cell swallows the rows below it
        'Bu Sari;0811\nPak Budi;"0812\nEdo;"0813"\n',
        'Nama;Nomor\n"Pak Budi;0812\nEdo;0813\n',
    ):
        with pytest.raises(SheetRefused, match="2"):
            rows(text)


def test_a_quote_inside_a_line_is_a_letter():
    assert rows('"Pak "Budi" 2";0812\nTV 32";0813\n"Edo;0814') == [
        (1, 'Pak Budi" 2"', "0812"),
        (2, 'TV 32"', "0813"),
        (3, "Edo;0814", ""),
    ]
