"""No row becomes a sale of a product with another amount, also in a table for the catalogue of another day."""

import pytest

from batches.models import BatchRow
from catalogue.models import Brand, Product
from testing.factories import make_product
from tests.batches.helpers import checked, rows_of
from tests.conftest import Upstream

pytestmark = pytest.mark.django_db


def take_from_the_catalogue(*codes: str) -> None:
    assert Product.objects.filter(code__in=codes).update(is_listed=False) == len(codes)


def row_of(number: str, what: str) -> BatchRow:
    """The only row of this table."""
    (row,) = rows_of(checked(f"Nomor;Produk\n{number};{what}\n"))
    return row


def test_given_no_such_credit_then_data_is_sold_only_to_whoever_says_so(upstream: Upstream):
    take_from_the_catalogue("TSEL25")

    for what, fault in [
        ("25", "unknown_product"),
        ("25.000", "unknown_product"),
        ("tsel 25", "unclear_product"),
        ("simpati 25", "unclear_product"),
        ("kartu as 25", "unclear_product"),
    ]:
        row = row_of("081255570001", what)
        assert (row.state, row.fault) == ("wrong", fault), what
    for what in ("25gb", "25 GB", "tsel 25 gb", "data 25", "tsel data 25"):
        row = row_of("081255570001", what)
        assert (row.state, row.product and row.product.code) == ("ready", "TSELD25G30"), what


def test_the_code_of_a_product_that_is_gone_sells_no_other_product(upstream: Upstream):
    for number, code in [
        ("081255570001", "TSEL25"),
        ("081255570001", "tsel1000"),  # not Rp1.000 of credit
        ("12345678901", "SPOTIFY1"),  # not three months
        ("081255570001", "GOPAY75"),  # not the wallet of a driver
        ("12345678901", "BPJSKS"),  # not a fine
        ("12345678901", "pln pasca"),  # not the bill for a new connection
    ]:
        take_from_the_catalogue(code.upper().replace(" ", ""))

        row = row_of(number, code)

        assert (row.state, row.fault, row.said) == ("wrong", "not_for_sale", code)
        Product.objects.filter(is_listed=False).update(is_listed=True)
        (again,) = rows_of(checked(f"Nomor;Produk;Nama\n{number};{code};Sari\n"))
        assert again.product, code
        assert again.product.code == code.upper().replace(" ", "")


def test_the_whole_name_of_a_product_sells_that_one_or_none(upstream: Upstream):
    for number, code in [
        ("081255570001", "GOPAY10"),
        ("12345678901", "BPJSKS"),
        ("12345678901", "PLNPASCA"),
        ("081255570001", "HALO"),  # not credit of Telkomsel
    ]:
        name = Product.objects.get(code=code).name

        row = row_of(number, name)

        assert (row.fault, row.product and row.product.code) == ("asking" if row.is_bill else "", code)
        take_from_the_catalogue(code)
        (again,) = rows_of(checked(f"Nomor;Produk;Nama\n{number};{name};Sari\n"))
        assert (again.state, again.fault, again.said) == ("wrong", "not_for_sale", name)


def test_rupiah_beside_an_operator_are_no_code_of_a_thousand_times_as_much(upstream: Upstream):
    for number, what, code in [
        ("081255570001", "tsel 1.000", "TSEL1"),
        ("081255570001", "tsel 1000", "TSEL1"),
        ("081755570001", "XL 1.000", "XL1"),  # the product's name
        ("081755570001", "xl 1000", "XL1"),
        ("081755570001", "xl 1.000.000", "XL1000"),
        ("081755570001", "xl1000", "XL1000"),  # the code
        ("081255570001", "tseld-8", "TSELD8G30"),  # the beginning of a code, and its amount
    ]:
        row = row_of(number, what)

        assert (row.state, row.product and row.product.code) == ("ready", code), what


def test_a_gap_in_a_code_says_nothing(upstream: Upstream):
    make_product(code="T10", name="Tri 10.000", brand="tri")
    make_product(code="TSELPROMO10", name="Telkomsel 10.000")
    Brand.objects.filter(code="tri").update(name="Tri")

    for number, what, code in [
        ("12345678901", "pln pasca", "PLNPASCA"),
        ("081255570001", "TSEL D3G30", "TSELD3G30"),
        ("089555570001", "T 10", "T10"),
        ("081255570001", "tsel 10", "TSEL10"),  # not unclear because of another one
    ]:
        row = row_of(number, what)

        assert (row.fault, row.product and row.product.code) == ("asking" if row.is_bill else "", code), what


def test_a_text_that_may_mean_another_amount_is_not_sold(upstream: Upstream):
    take_from_the_catalogue("SPOTIFY2")
    for number, what, fault, said in [
        # the beginning of a code
        ("12345678901", "PLN-25", "unclear_product", "PLN250"),
        ("081255570001", "tsel-4", "unclear_product", "TSEL40"),
        ("12345678 (2001)", "ML-8", "unclear_product", "ML86"),
        ("083155570001", "axisd-15", "unclear_product", "AXISD15G3"),  # 1,5 GB
        # rupiah or a code
        ("081255570001", "TSEL1.000", "unclear_product", None),
        ("081255570001", "tsel-1000", "unclear_product", None),
        # no typing error of another amount or code
        ("081255570001", "S-10.000,00", "unknown_product", None),
        ("081255570001", "p.10.000,00", "unknown_product", None),
        ("12345678901", "SPOTIFY9", "unknown_product", "SPOTIFY9"),
    ]:
        row = row_of(number, what)

        assert (row.state, row.fault) == ("wrong", fault), what
        assert said is None or row.said == said, what
