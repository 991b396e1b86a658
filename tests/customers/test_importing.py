"""Customers from a file are shown before saving, saved all or not at all, and never doubled."""

from functools import partial

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import DatabaseError, connection, transaction
from django.test.utils import CaptureQueriesContext

from audit.models import AuditEvent
from customers.events import CUSTOMERS_IMPORTED
from customers.models import Customer, SavedNumber
from customers.services import MOST_KILOBYTES, MOST_ROWS, import_customers, plan_import
from testing.factories import make_biller, make_product
from testing.orders import Meanwhile, at_once
from testing.people import browser_of, make_person
from tests.core.helpers import codes
from tests.customers.helpers import make_customer

pytestmark = pytest.mark.django_db(transaction=True)

FILE = """nama;nomor;catatan;produk
Bu Sari;81234567890 / +62 813-1111-2222;Blok C 4;
bu sari;12345678901;;meter
Pak Budi;0812 3456 7890;;{code}
PAK BUDI;081234567890;;{code}
Bu Rini;8.12E+10;;
;081299990000;;
Pak Agus;1234567890;;{biller}
Pak Agus;99;;nothing of ours
Bu Lama;081255556666;other;
Bu Lama;081277778888;;
Pak Tanpa;;only a name;
"""


@pytest.fixture
def text() -> str:
    make_customer("Bu Lama", ("081255556666", "phone"), note="kept")
    return FILE.format(code=make_product(code="TSEL10").code.lower(), biller=make_biller().name.upper())


def test_the_plan_says_what_each_row_does(text):
    plan = plan_import(text)

    assert [(row.line, row.destination, str(row.outcome)) for row in plan.rows] == [
        (2, "081234567890", "new_customer"),
        (2, "081311112222", "new_number"),
        (3, "12345678901", "new_number"),
        (4, "081234567890", "new_customer"),
        (5, "081234567890", "twice"),
        (6, "", "wrong"),
        (7, "", "wrong"),
        (8, "1234567890", "new_customer"),
        (9, "", "wrong"),
        (10, "081255556666", "known"),
        (11, "081277778888", "new_number"),
        (12, "", "new_customer"),
    ]
    assert all(row.words for row in plan.rows if row.outcome == "wrong")
    assert (Customer.objects.count(), SavedNumber.objects.count()) == (1, 1)


def test_a_meter_has_its_column_and_one_that_is_not_read_is_named():
    table = "Nama;No HP;Meteran;Alamat;Tgl lahir\nBu Sari;081234567890;12345678901;Blok C;1 Mei\n"

    plan = plan_import(table)
    page = browser_of("supervisor").post("/customers/import/", {"text": table}).content.decode()

    numbers = [(row.destination, row.kind.code if row.kind else "") for row in plan.rows]
    assert numbers == [("081234567890", "phone"), ("12345678901", "meter")]
    assert plan.unread == ["Tgl lahir"]
    assert "Tgl lahir" in page.split('id="import-unread"')[1].split("</div>")[0]
    assert plan_import("Bu Sari;081234567890\n").unread == []


def test_an_unclear_product_is_answered_with_the_codes_that_match():
    for code, name in (("PLN20", "PLN 20.000"), ("PLN50", "PLN 50.000"), ("TSEL10", "Telkomsel 10.000")):
        make_product(code=code, name=name)

    rows = plan_import("name;number;product\nBu Sari;081234567890;PLN\nPak Budi;081234567891;Zzz\n").rows

    assert [str(row.outcome) for row in rows] == ["wrong", "wrong"]
    assert "PLN20, PLN50." in rows[0].words
    assert "TSEL10" not in rows[0].words
    assert "phone" in rows[1].words


def test_the_page_shows_everything_first_and_then_saves_it_once(text):
    browser = browser_of("supervisor")

    page = browser.post("/customers/import/", {"file": SimpleUploadedFile("c.csv", text.encode("utf-8-sig"))})
    assert Customer.objects.count() == 1
    shown = {str(outcome): count for outcome, count in page.context["counts"]}
    answer = browser.post("/customers/import/", {"text": page.context["text"], "save": "1"})
    browser.post("/customers/import/", {"text": page.context["text"], "save": "1"})

    assert shown == {"wrong": 3, "twice": 1, "new_customer": 4, "new_number": 3, "known": 1}
    assert answer["Location"] == "/customers/"
    saved = SavedNumber.objects.order_by("customer__name", "destination")
    assert list(saved.values_list("customer__name", "destination", "kind", "product__code")) == [
        ("Bu Lama", "081255556666", saved[0].kind, None),
        ("Bu Lama", "081277778888", saved[1].kind, None),
        ("Bu Sari", "081234567890", saved[2].kind, None),
        ("Bu Sari", "081311112222", saved[3].kind, None),
        ("Bu Sari", "12345678901", saved[4].kind, None),
        ("Pak Agus", "1234567890", saved[5].kind, saved[5].product.code),
        ("Pak Budi", "081234567890", saved[6].kind, "TSEL10"),
    ]
    assert [str(number.kind) for number in saved[:5]] == ["phone"] * 4 + ["meter"]
    notes = dict(Customer.objects.values_list("name", "note"))
    assert notes == {
        "Bu Lama": "kept",
        "Bu Sari": "Blok C 4",
        "Pak Budi": "",
        "Pak Agus": "",
        "Pak Tanpa": "only a name",
    }
    first, again = AuditEvent.objects.filter(kind=CUSTOMERS_IMPORTED.key).order_by("pk")
    assert (first.subject, first.facts) == ("customers", {"customers": 4, "saved_numbers": 6, "rows": 12})
    assert again.facts == {"customers": 0, "saved_numbers": 0, "rows": 12}


def test_a_fault_in_the_middle_leaves_nothing(text, monkeypatch):
    def fail(*_args, **_facts):
        raise DatabaseError

    monkeypatch.setattr(SavedNumber.objects, "bulk_create", fail)
    with pytest.raises(DatabaseError):
        import_customers(text, actor=make_person("supervisor"))

    assert Customer.objects.count() == 1
    assert not AuditEvent.objects.filter(kind=CUSTOMERS_IMPORTED.key).exists()


def test_two_imports_of_one_file_at_once_make_each_customer_once(text):
    actor = make_person("supervisor")

    at_once(*[partial(import_customers, text, actor=actor)] * 2)

    assert (Customer.objects.count(), SavedNumber.objects.count()) == (5, 7)


def test_a_number_that_a_colleague_saves_during_an_import_stays_once(text):
    browser, known = browser_of("supervisor"), Customer.objects.get(name="Bu Lama")

    with transaction.atomic():
        SavedNumber.objects.create(customer=known, destination="081277778888", kind="phone", note="toko")
        meanwhile = Meanwhile(partial(browser.post, "/customers/import/", {"text": text, "save": "1"}, follow=True))
        assert meanwhile.is_blocked_by_us()
    said = [str(message) for message in meanwhile.end().context["messages"]]

    assert (Customer.objects.count(), SavedNumber.objects.count()) == (5, 7)
    assert known.numbers.get(destination="081277778888").note == "toko"
    assert AuditEvent.objects.get(kind=CUSTOMERS_IMPORTED.key).facts["saved_numbers"] == 5
    assert said == ["6 rows were saved."]  # one of them has no number


def test_many_rows_take_as_few_statements_as_few():
    actor = make_person("supervisor")
    text = "\n".join(f"Pelanggan {number},0812{number:08d},,meter" for number in range(3))
    import_customers(text, actor=actor)
    many = "\n".join(f"Pelanggan {number},0813{number:08d}" for number in range(MOST_ROWS))

    with CaptureQueriesContext(connection) as asked:
        plan = import_customers(many, actor=actor)

    assert (len(plan.saved), Customer.objects.count(), SavedNumber.objects.count()) == (5_000, 5_000, 5_003)
    assert len(asked) <= 2 * MOST_ROWS // 500 + 10


def test_what_is_no_table_is_refused_in_words():
    browser = browser_of("supervisor")
    for fields in ({}, {"text": "nama,nomor\n"}, {"text": "a\n" * (MOST_ROWS + 1)}):
        page = browser.post("/customers/import/", fields)

        assert page.status_code == 422
        assert codes(page) <= {"nothing", "SheetRefused"}
        assert codes(page)


def test_a_file_of_many_times_the_size_is_not_even_read(monkeypatch):
    monkeypatch.setattr("core.forms.text_of", lambda _content: pytest.fail("it was read"))
    file = SimpleUploadedFile("c.xlsx", b"PK" + b"x" * MOST_KILOBYTES * 4096)

    page = browser_of("supervisor").post("/customers/import/", {"file": file})

    assert (page.status_code, codes(page)) == (422, {"too_large"})


def test_more_than_the_page_says_is_refused_and_just_as_much_is_saved():
    browser = browser_of("supervisor")
    row = f"Bu Sari,081234567890,{'x' * 200}\n"
    text = row * (MOST_KILOBYTES * 1024 // len(row))
    file = SimpleUploadedFile("c.csv", (text + row).encode())

    refused = browser.post("/customers/import/", {"file": file})
    saved = browser.post("/customers/import/", {"text": text.replace("\n", "\r\n"), "save": "1"})

    assert (refused.status_code, codes(refused)) == (422, {"too_large"})
    assert saved["Location"] == "/customers/"
