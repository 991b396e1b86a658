"""Every page shows the controls of writing direction in a text by their names."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from django.core.management import call_command

from core.bidi import visible, visible_in_terminal
from exports.formats import csv_blocks, write_workbook
from purchases.management.commands.order import Command
from purchases.states import Status
from testing.factories import make_order
from tests.customers.helpers import make_customer

CONTROLS = [chr(number) for number in (0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))]
TURNED = "SN-\u202e0001-1234"
ROOT = Path(__file__).resolve().parents[2]


def test_each_control_is_named_and_other_letters_stay():
    for control in CONTROLS:
        assert visible(f"a{control}b") == f"a[U+{ord(control):04X}]b"
    assert visible("Rp50.000 – “naïve” 日本 \u200d \u00a0") == "Rp50.000 – “naïve” 日本 \u200d \u00a0"


@pytest.mark.django_db
def test_no_page_shows_what_turns_letters_around(admin):
    order = make_order(Status.SUCCESS, sn=TURNED, message=f"ok {TURNED}")

    for path in (order.get_absolute_url(), f"{order.get_absolute_url()}receipt/", "/orders/", "/orders/?q=%E2%80%AE12"):
        answer = admin.get(path)
        assert answer.status_code == 200, path
        assert "\u202e" not in answer.content.decode(), path
    assert "SN-[U+202E]0001-1234" in admin.get(order.get_absolute_url()).content.decode()


@pytest.mark.django_db
def test_a_copied_text_stands_in_a_lists_search_without_its_invisible_marks(admin):
    order, merged = make_order(Status.SUCCESS), f"/customers/{make_customer().pk}/merge/"
    for path, text in (
        *(("/orders/", order.ref_id), ("/audit/", order.ref_id)),
        *(("/customers/", "Bu Sari – Warung"), (merged, "0812-3456-7890")),
    ):
        page = admin.get(path, {"q": f"\u202a{text}\u202c"}).content.decode()
        assert "U+202A" not in page, path
        assert f'value="{text}"' in page, path
    assert f'id="row-{order.pk}"' in admin.get("/orders/", {"q": f"\u2068{order.ref_id}\u2069"}).content.decode()
    assert admin.get("/orders/", {"q": "\u202akemarin\u202c"}).status_code == 302  # as days


def test_no_file_holds_what_turns_letters_around():
    fields = {"sn": lambda row: row}

    assert "".join(csv_blocks([TURNED, "\u202e=1"], fields)) == "sn\nSN-[U+202E]0001-1234\n[U+202E]=1\n"
    file = io.BytesIO()
    write_workbook(file, [TURNED], fields)
    with zipfile.ZipFile(file) as book:
        assert "\u202e" not in "".join(book.read(name).decode() for name in book.namelist())


@pytest.mark.django_db
def test_no_command_prints_what_turns_letters_around():
    order = make_order(Status.SUCCESS, sn=f"{TURNED}\x1b[2J\rFAILED")

    def printed(*more: str) -> str:
        out = io.StringIO()
        with pytest.raises(SystemExit):
            call_command("order", order.ref_id, *more, stdout=out)
        return out.getvalue()

    assert "SN-[U+202E]0001-1234[U+001B][2J[U+000D]FAILED\n" in printed()
    assert printed("--json").isascii()
    assert json.loads(printed("--json"))["sn"] == order.sn


@pytest.mark.django_db
def test_no_refusal_of_a_command_turns_letters_around(capsys):
    with pytest.raises(SystemExit):
        Command().run_from_argv(["manage.py", "order", "\u202eB1"])

    shown = capsys.readouterr().err
    assert "B1" in shown
    assert visible(shown) == shown


def test_lines_and_progress_stay_as_they_are_in_a_terminal():
    for text in ("two\nlines\tand more", "\r  50 of 100"):
        assert visible_in_terminal(text) == text
    assert visible_in_terminal("\x9b2J") == "[U+009B]2J"


def test_no_template_or_translation_needs_such_a_control():
    texts = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "locale").rglob("*.po")]

    assert len(texts) > 50
    assert not [path for path in texts if visible(text := path.read_text()) != text]
