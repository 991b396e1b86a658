"""The tables that people write, and the meaning of each row."""

import pytest

from batches.services import mend_all
from batches.services.reading import digest_of, doubt_about, is_unclear_amount, read_rows
from catalogue.models import Product
from core.sheets import SheetRefused
from testing.factories import make_product
from tests.batches.helpers import checked, rows_of, supervisor
from tests.conftest import Upstream

pytestmark = pytest.mark.django_db


def test_number_and_product_are_found_in_any_order():
    for line, number, what in [
        ("0812 3456 7890 10", "0812 3456 7890", "10"),
        ("10 081234567890", "081234567890", "10"),
        ("S10.081234567890", "081234567890", "10"),
        ("081234567890;tsel 10", "081234567890", "tsel 10"),
        ("tsel 10;081234567890", "081234567890", "tsel 10"),
        ("081234567890\tRp 10.000", "081234567890", "Rp 10.000"),
        ("'081234567890;10", "081234567890", "10"),
        ("+62\u00a0812-3456-7890;10", "+62 812-3456-7890", "10"),
        ("8,1234567890E+10;10", "8,1234567890E+10", "10"),
        ("10;8.12E+10", "8.12E+10", "10"),
        ("81234567890;10", "81234567890", "10"),
        ("1. 081234567890 10", "081234567890", "10"),
        ("2) 0812 3456 7890;10", "0812 3456 7890", "10"),
        ("10. 081234567890", "081234567890", ""),
        ("12345678901;20", "12345678901", "20"),
    ]:
        (row,) = read_rows(line)

        assert (row.number, row.what) == (number, what), line


def test_a_heading_names_the_columns_in_any_order_else_what_stands_behind_keeps_its_place():
    (row,) = read_rows("0812-3456-7890 10;Sari;bonus;INV-1")
    assert (row.name, row.note, row.reference) == ("Sari", "bonus", "INV-1")

    (row,) = read_rows("Nama;Ref;Nominal;No HP\nSari;INV-1;10.000;081234567890")
    assert (row.line, row.number, row.what, row.name, row.reference) == (2, "081234567890", "10.000", "Sari", "INV-1")

    with pytest.raises(SheetRefused, match="Number"):
        read_rows("Urut;Kontak\n100;081255570001\n")


def test_the_same_rows_in_another_format_are_the_same_table():
    assert digest_of(read_rows("081234567890;10;Sari")) == digest_of(read_rows("081234567890\t10\tSari\n"))
    assert digest_of(read_rows("081234567890;10;Sari")) != digest_of(read_rows("081234567890;20;Sari"))


def test_a_row_becomes_one_product_for_one_number(upstream: Upstream):
    beside = ["Rp10.000,-", "Rp. 10.000", "10,000", "tsel-10", "tsel 10", "tsel - 10", "tsel (10)"]
    for text, code, destination in [
        ("081234567890 10", "TSEL10", "081234567890"),
        ("81234567890;10", "TSEL10", "081234567890"),
        ("8,1234567890E+10;10.000", "TSEL10", "081234567890"),
        ("+62 812 3456 7890;Rp10.000", "TSEL10", "081234567890"),
        ("0812 0000 0000;10", "TSEL10", "081200000000"),  # groups of four may end in zeros
        ("xl 10;087812345678", "XL10", "087812345678"),
        ("TSEL10;081234567890", "TSEL10", "081234567890"),
        ("12345678901;20", "PLN20", "12345678901"),
        *((f"Nomor\tProduk\n081255570001\t{what}", "TSEL10", "081255570001") for what in beside),
    ]:
        (row,) = rows_of(checked(text))

        assert (row.state, row.words) == ("ready", ""), text
        assert row.product, text
        assert (row.product.code, row.destination) == (code, destination), text
        assert (row.max_price, row.selling_price) == (row.product.price, row.product.sells_for), text


def test_what_cannot_be_sold_is_named(upstream: Upstream):
    for line, fault in [
        ("8.12E+10;10", "digits_lost"),
        ("081234;10", "wrong_number"),
        ("Sari;10", "no_number"),
        ("081234567890", "no_product"),
        ("081234567890;unheardof", "unknown_product"),
        ("081234567890;11", "unknown_product"),
        ("087812345678;TSEL10", "other_operator"),
        ("087812345678;tsel 10", "other_operator"),
        ("123456789012;PLNPASCA", "asking"),
        ("08129999;10", "wrong_number"),
        ("081234;567890 10", "wrong_number"),
        ("10", "no_number"),
        ("Bu Ani saja", "no_number"),
    ]:
        row, _other = rows_of(checked(f"{line}\n081255550001;5"))

        assert (row.state, row.fault) == ("wrong", fault), line


def test_an_amount_behind_a_short_number_never_becomes_part_of_it(upstream: Upstream):
    for line, said in [
        ("08123456 10", "08123456 (10?)"),
        ("08123456-10", "08123456 (10?)"),
        ("08123456 10.000", "08123456 (10.000?)"),
        ("081234567 100", "081234567 (100?)"),
        ("08123456 5000", "08123456 (5000?)"),
        ("+62 8123456 10", "+62 8123456 (10?)"),
        ("1234 5678 100", "1234 5678 (100?)"),
        ("08123456 10;TSEL10", "08123456 (10?)"),
        ("0812 3456 7890 5", "0812 3456 7890 (5?)"),
        ("1234 5678 100;PLN20", "1234 5678 (100?)"),
    ]:
        batch = checked(line)
        (row,) = rows_of(batch)
        assert (row.state, row.fault, row.said) == ("wrong", "unclear_number", said), line

        for fault in ("unclear_number", "no_product"):
            assert mend_all(batch, step="product", actor=supervisor(), fault=fault, code="TSEL10") == 0, line

        (row,) = rows_of(batch)
        assert (row.state, row.fault, row.destination) == ("wrong", "unclear_number", ""), line


def test_a_number_in_groups_is_certain():
    numbers = ["0812 3456 7890", "0812-3456-7890", "0812.3456.7000", "+62 812-3456-5000", "0812 345 678"]
    numbers += ["081234 567890", "8123 456 7890", "8,1234567890E+10", "81234567890.0", "1234 5678 901"]

    assert {number: doubt_about(number) for number in numbers} == dict.fromkeys(numbers, "")


def test_each_row_has_its_own_separator(upstream: Upstream):
    lines = ["081290000001;10;Sari, Depok", "081290000002,20,Budi; Ani", "081290000003\t10\tEdo", "081290000005 10"]

    rows = rows_of(checked("\n".join(lines)))

    assert [(row.state, row.product and row.product.code, row.destination, row.name) for row in rows] == [
        ("ready", "TSEL10", "081290000001", "Sari, Depok"),
        ("ready", "TSEL20", "081290000002", "Budi; Ani"),
        ("ready", "TSEL10", "081290000003", "Edo"),
        ("ready", "TSEL10", "081290000005", ""),
    ]


def test_words_behind_the_product_are_a_name_once_a_person_says_so(upstream: Upstream):
    wanted = ["10 Sari", "10 Bu Ani, Depok", "10 kuota", "10 Pak Budi"]
    lines = [f"08129000000{nth} {what}" for nth, what in enumerate(wanted, start=1)]
    batch = checked("\n".join([*lines, "+62 813 9000 0022 10 Pak Budi", "123456789012 plnpasca budi"]))
    assert [row.fault for row in rows_of(batch)] == [*["name_behind"] * 2, "unknown_product", *["name_behind"] * 3]

    mend_all(batch, step="names", actor=supervisor(), fault="name_behind")

    assert [(row.state, row.product and row.product.code, row.name) for row in rows_of(batch)] == [
        ("ready", "TSEL10", "Sari"),
        ("ready", "TSEL10", "Bu Ani, Depok"),
        ("wrong", None, ""),
        ("ready", "TSEL10", "Pak Budi"),
        ("ready", "TSEL10", "Pak Budi"),
        ("wrong", "PLNPASCA", "budi"),  # its bill is being checked
    ]

    # behind words for several products it is said before what is unclear
    batch = checked("123456789012 pln Budi Santoso\n123456789012 pln unheardof 10")
    assert [row.fault for row in rows_of(batch)] == ["name_behind", "unknown_product"]
    mend_all(batch, step="names", actor=supervisor(), fault="name_behind")
    row = rows_of(batch)[0]
    assert (row.what, row.name, row.fault) == ("pln", "Budi Santoso", "unclear_product")
    assert row.said.startswith("PLN20, ")


NUMBERED = "No;Nama;Nomor HP;Produk\n"


def test_with_a_heading_only_its_columns_give_number_and_product(upstream: Upstream):
    for table in [
        NUMBERED + "5;Ani;081255570001;\n",
        "No.;Nama;No. HP;Produk\n100;Ani;081255570001;\n",
        "#;Nama;No HP (WA);Produk\n5;Ani;081255570001;\n",
        "No Urut;No. Telp;Nama;Produk\n5;081255570001;Ani;\n",
        "Nr;Phone;Product;Name\n5;081255570001;;Ani\n",
        "Daftar pulsa November 2026;;;\n" + NUMBERED + "5;Ani;081255570001;\n",
        "Umur;Nomor HP;Harga;Produk\n20;081255570001;10.000;\n",
        "Nomor HP;Ket;Tanggal;Produk\n081255570001;10;5;\n",
        "Nomor HP;Produk;Jumlah\n081255570001;;100\n",
        "Nomor HP;Nama\n081255570001;10\n",
    ]:
        (row,) = rows_of(checked(table))

        assert (row.typed, row.state, row.fault) == ("081255570001", "wrong", "no_product"), table


def test_no_is_the_number_only_where_no_other_column_is(upstream: Upstream):
    rows = rows_of(checked(NUMBERED + "5;Ani;081255570001;20\n6;Budi;081255570002;\n"))

    assert [(row.state, row.product and row.product.code, row.name) for row in rows] == [
        ("ready", "TSEL20", "Ani"),
        ("wrong", None, "Budi"),
    ]
    for table in [
        "No;Nama;Nominal\n081255570001;Ani;10\n",
        "Nomor;Nominal\n081255570001;10\n",
        "Nomor;HP;Nominal\n5;081255570001;10\n",
    ]:
        (row,) = rows_of(checked(table))

        assert (row.state, row.destination) == ("ready", "081255570001"), table


def test_what_stands_in_another_place_is_never_guessed(upstream: Upstream):
    for table, fault in [
        # Number and product in one cell, and two numbers, under a heading: neither is guessed.
        ("Nomor;Produk\n10 081255570001;\n", "no_product"),
        ("Nomor;Produk\n5 081255570001;TSEL10\n", "wrong_number"),
        ("Nomor;Produk\nTSEL10;081255570001\n", "wrong_number"),
        # Without a heading a number of the list and a product both look like one.
        ("5;081255570001;10\n", "unclear_amount"),
    ]:
        (row,) = rows_of(checked(table))

        assert (row.state, row.fault) == ("wrong", fault), table


def test_signs_beside_an_amount_and_digits_of_a_spreadsheet_are_never_guessed(upstream: Upstream):
    called = [text for pair in Product.objects.values_list("name", "code") for text in pair]
    assert len(called) > 500
    assert [text for text in called if is_unclear_amount(text)] == [], "no product is called so"

    unclear = ["5+5", "-10", "10%", "10 10", "tsel 10 10", "(10)", "10-", "5-10", "$10", "− 10", "1/2", "--10", "/10"]
    for what in [*unclear, "10, 10", "10 & 10"]:
        (row,) = rows_of(checked(f"081255570001;{what}\n"))

        assert (row.state, row.fault, row.said) == ("wrong", "unclear_amount", what), what

    for number, fault in [
        ("81200000000", "digits_lost"),
        ("081200000000", "digits_lost"),
        ("531200000000", "digits_lost"),
        ("-81255570001", "wrong_number"),
    ]:
        (row,) = rows_of(checked(f"Nomor;Produk\n{number};TSEL10\n"))

        assert (row.state, row.fault) == ("wrong", fault), number


def test_a_sign_between_the_digits_of_a_code_belongs_to_it(upstream: Upstream):
    make_product(code="TSX15", name="Telkomsel Data 15 GB", price=60_000)
    (gone,) = rows_of(checked("081255570001;TSX1.5\n"))
    assert (gone.state, gone.fault, gone.said) == ("wrong", "unclear_product", "TSX15")

    Product.objects.filter(code="TSEL10").update(code="TSEL10000")
    make_product(code="TSX1.5", name="Telkomsel Data 1.5 GB", price=8_000)
    for what, code in [
        ("TSX1.5", "TSX1.5"),
        ("tsx1.5", "TSX1.5"),
        ("TSX15", "TSX15"),
        ("tsx-15", "TSX15"),
        ("TSX 15", "TSX15"),
        ("tsel 10.000", "TSEL10000"),
    ]:
        (row,) = rows_of(checked(f"Nomor;Produk\n081255570002;{what}\n"))

        assert (row.state, row.product and row.product.code) == ("ready", code), what
