"""The files of banks: columns, days and amounts, as people download them."""

import datetime as dt

import pytest

from bank.errors import BankRefused
from bank.formats import Booking, Columns, amount_of, bookings_of, columns_of, day_of, lines_of

TODAY = dt.date(2026, 11, 26)
DAY = dt.date(2026, 11, 25)

BCA = """Informasi Rekening - Mutasi Rekening
No. rekening :,'0123456789
Periode :,01/11/2026 - 26/11/2026

Tanggal Transaksi,Keterangan,Cabang,Jumlah,,Saldo
'25/11,TRSF E-BANKING CR 2511/FTSCY/WS95051 BUDI,'0000,"50,000.00",CR,"1,050,000.00"
'25/11,BIAYA ADM,'0000,"15,000.00",DB,"1,035,000.00"
PEND,TARIKAN ATM,'0000,"100,000.00",DB,"935,000.00"
Saldo Awal :,"1,000,000.00"
"""
BCA_SUFFIX = """Tanggal Transaksi,Keterangan,Cabang,Jumlah,Saldo
25/11/2026,TRSF CR BUDI,0000,"50,000.00 CR","1,050,000.00"
25/11/2026,BIAYA ADM,0000,"15,000.00 DB","1,035,000.00"
"""
MANDIRI = """Account No,Date,Val. Date,Transaction Code,Description,Description,Reference No.,Debit,Credit
0123,25/11/26,25/11/26,9918,TRSF CR,BUDI,REF77,.00,"50,000.00"
0123,25/11/26,25/11/26,9918,BIAYA ADM,,REF78,"15,000.00",.00
"""
BRI = """Tanggal;Uraian Transaksi;Teller;Debet;Kredit;Saldo
25/11/26 10:11:12;TRSF CR BUDI;8888;0,00;50.000,00;1.050.000,00
25/11/26 10:12:12;BIAYA ADM;8888;15.000,00;0,00;1.035.000,00
"""


def read(text: str, columns: Columns | None = None) -> list[Booking]:
    lines = lines_of(text.encode())
    columns = columns or columns_of(lines)
    assert columns is not None
    return [*bookings_of(lines, columns, TODAY)]


@pytest.mark.parametrize("text", [BCA, BCA_SUFFIX, MANDIRI, BRI])
def test_given_a_known_bank_then_its_names_say_the_columns(text):
    came, left = read(text)

    assert (came.day, came.amount, left.day, left.amount) == (DAY, 50_000, DAY, -15_000)
    assert "BUDI" in came.text
    assert left.text == "BIAYA ADM"
    assert came.reference == ("REF77" if text is MANDIRI else "")


def test_given_an_unknown_bank_then_a_person_chooses_the_columns():
    text = "Wann|Was|Wieviel\n2026-11-25|BUDI|50.000\n25 Nov 2026|BIAYA|-15.000\n"

    assert columns_of(lines_of(text.encode())) is None
    assert [(row.day, row.amount) for row in read(text, Columns(0, 1, 2))] == [(DAY, 50_000), (DAY, -15_000)]


@pytest.mark.parametrize(
    ("cell", "amount"),
    [
        ("1.234.567,00", 1_234_567),
        ("1,234,567.00 CR", 1_234_567),
        ("1,234,567.00 DB", -1_234_567),
        ("50.000", 50_000),
        ("50000", 50_000),
        ("50000.5", 50_000),
        ("Rp 50.000,00", 50_000),
        ("-Rp50.000", -50_000),
        ("(50,000.00)", -50_000),
        ("50.000-", -50_000),
        ("+ 50.000", 50_000),
        ("12.34", 12),
        ("1500000.0000", 1_500_000),
        ("1,500,000.0000 CR", 1_500_000),
        ("-1.500.000,0000", -1_500_000),
        (".00", 0),
        ("-", 0),
        ("IDR 1,000.00", 1_000),
    ],
)
def test_given_an_amount_as_banks_write_it_then_it_is_whole_rupiah(cell, amount):
    assert amount_of(cell) == amount


_EITHER = ["1500000.000", "12345,678", "1,500,000.000", "1.500.000,000", "1.234,567", "1,234,56"]


@pytest.mark.parametrize("cell", ["BUDI", "50.000 USD", "1e5", "50 000", "5--", "٥٠", *_EITHER])
def test_given_no_amount_then_it_is_refused(cell):
    with pytest.raises(BankRefused, check=lambda refusal: refusal.reason == "bad_amount"):
        amount_of(cell)


@pytest.mark.parametrize(
    ("cell", "day"),
    [
        ("25/11/2026", DAY),
        ("25/11/26 10:11", DAY),
        ("25-11-2026", DAY),
        ("25.11.2026", DAY),
        ("2026-11-25T10:11:12", DAY),
        ("25 Nov 2026", DAY),
        ("5-Agu-26", dt.date(2026, 8, 5)),
        ("25/11", DAY),
        ("30/12", dt.date(2025, 12, 30)),  # of last year: this year's day has not come yet
        ("PEND", None),
        ("", None),
        ("12345678", None),
    ],
)
def test_given_a_day_as_banks_write_it_then_it_is_that_day(cell, day):
    assert day_of(cell, TODAY) == day


def test_given_29_february_without_year_then_it_is_last_years():
    assert day_of("29/02", dt.date(2025, 1, 15)) == dt.date(2024, 2, 29)


@pytest.mark.parametrize(
    "cell", ["11/25/2026", "31/02/2026", "25 Xyz 2026", "30/12/2026", "00/11", "29/02", "01/01/0001", "25/11/0026"]
)
def test_given_a_day_of_no_calendar_then_the_whole_file_is_refused(cell):
    with pytest.raises(BankRefused, check=lambda refusal: refusal.reason == "bad_day"):
        day_of(cell, TODAY)


@pytest.mark.parametrize("content", [b"", b"one line", b"PK\x03\x04\x00\x00", b"a,b\n1,2\n", b"," * 1_000])
def test_given_no_statement_then_it_is_refused(content):
    with pytest.raises(BankRefused, check=lambda refusal: refusal.reason == "no_text"):
        lines_of(content)


def test_given_a_quote_that_nobody_closes_then_no_row_is_lost():
    rows = (
        b'Tanggal;Keterangan;Jumlah;DB/CR\n25/11/2026;BUDI;50.000;CR\n25/11/2026;"ANI;60.000;CR\n25/11/2026;EDO;1;CR\n'
    )

    with pytest.raises(BankRefused, match="3") as refused:
        lines_of(rows)
    assert refused.value.reason == "open_quote"
    with pytest.raises(BankRefused, match="3"):
        lines_of(rows.replace(b"BUDI", b'"TOKO" BUDI'))
    with pytest.raises(BankRefused, match="4"):  # the last row would be read without an amount, and left out
        lines_of(rows.replace(b'"ANI', b"ANI").replace(b"EDO", b'"EDO'))
    assert len(lines_of(rows.replace(b'"ANI', b'TOKO "ANI"'))) == 4
    assert len(lines_of(rows.replace(b'"ANI', b'"TOKO\nANI"'))) == 4
