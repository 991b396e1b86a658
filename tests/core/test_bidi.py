"""A text that turns the writing direction around is shown with its controls named, wherever it is shown."""

import io
import zipfile
from pathlib import Path

import pytest

from core.bidi import visible
from exports.formats import csv_blocks, write_workbook
from purchases.states import Status
from tests.factories import make_order

CONTROLS = [chr(number) for number in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))]
TURNED = "SN-\u202e0001-1234"
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("control", CONTROLS)
def test_each_control_is_named(control):
    assert visible(f"a{control}b") == f"a[U+{ord(control):04X}]b"


def test_other_letters_stay():
    assert visible("Rp50.000 – “naïve” 日本 \u200d \u00a0") == "Rp50.000 – “naïve” 日本 \u200d \u00a0"


@pytest.mark.django_db
def test_no_page_shows_what_turns_letters_around(admin):
    order = make_order(Status.SUCCESS, sn=TURNED, message=f"ok {TURNED}")

    for path in (order.get_absolute_url(), f"{order.get_absolute_url()}receipt/", "/orders/", "/orders/?q=%E2%80%AE12"):
        answer = admin.get(path)
        assert answer.status_code == 200, path
        assert "\u202e" not in answer.content.decode(), path
    assert "SN-[U+202E]0001-1234" in admin.get(order.get_absolute_url()).content.decode()


def test_no_file_holds_what_turns_letters_around():
    fields = {"sn": lambda row: row}

    assert "".join(csv_blocks([TURNED, "\u202e=1"], fields)) == "sn\nSN-[U+202E]0001-1234\n[U+202E]=1\n"
    file = io.BytesIO()
    write_workbook(file, [TURNED], fields)
    with zipfile.ZipFile(file) as book:
        assert "\u202e" not in "".join(book.read(name).decode() for name in book.namelist())


def test_no_template_or_translation_needs_such_a_control():
    texts = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "locale").rglob("*.po")]

    assert len(texts) > 50
    assert not [path for path in texts if visible(text := path.read_text()) != text]
