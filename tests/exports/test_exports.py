"""Files of the worker are requested, followed, downloaded, and deleted after a day, also with killed workers."""

import csv
import datetime as dt
import io
import re

import pytest
import time_machine
from django.contrib.messages import get_messages
from django.utils import timezone

from core.bidi import visible
from exports import services
from exports.formats import cell, csv_blocks
from exports.models import Export, ExportPart, ExportState
from ledger.models import Entry
from ledger.tasks import write_statement
from tests.core.helpers import cells, has_id, next_question
from tests.exports.helpers import ask, csv_rows, made, sheet_text
from tests.ledger.helpers import open_books, spend

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("long_books")]


def later(minutes: float):
    return time_machine.travel(timezone.now() + dt.timedelta(minutes=minutes))


@pytest.fixture
def published(monkeypatch):
    messages = []
    monkeypatch.setattr(services, "publish", lambda *message: messages.append(message))
    return messages


def test_a_file_holds_the_filtered_entries(auditor):
    open_books(1_000_000)
    order = spend(10_500)

    rows = csv_rows(made(auditor, "csv", "kind=money"))
    sheet = sheet_text(made(auditor, "xlsx", "kind=debit"))

    assert [(row["kind"], row["balance_change"]) for row in rows] == [("opening", "1000000"), ("debit", "-10500")]
    assert order.ref_id in sheet
    assert "opening" not in sheet


def test_no_cell_begins_a_formula():
    for text in (
        "=1",
        "+1",
        "-1",
        "@x",
        "\t=1",
        " =1",
        "＝1",
        "＋1",
        "－1",
        "＠x",
        "\u200b=1",
        "\u00a0 =1",
        "\ufeff=1",
    ):
        assert cell(text) == f"'{visible(text)}"
    assert cell("Budi = 1") == "Budi = 1"


def test_no_part_of_a_cell_begins_a_formula():
    for text in (
        *("Budi;=1", "Budi; \u200b+1", "Budi\t@x", "Budi|-1", "Budi\n=1", "Budi;＝1;x"),
        *(';"=1;', ";;=1", "=1;=2"),
    ):
        written = "".join(csv_blocks([text], {"id": len, "name": str, "note": lambda _row: "A; 1 = 1; B-C|D"}))

        parts = [part for line in written.splitlines() for part in re.split(r"[;|\t]", line)]

        assert [part for part in parts if part.strip(' "\u200b').startswith(("=", "+", "-", "@", "＝"))] == [], text
        assert "A; 1 = 1; B-C|D" in written


def test_a_line_end_in_a_cell_ends_no_row():
    for text in ("Pulsa\r10", "Pulsa\n10", "Pulsa\r\n10", "\rPulsa", 'a\r"b"', "Budi 😀\r=1"):
        written = "".join(csv_blocks([text], {"id": len, "name": str, "note": lambda _row: "beside"}))

        [row] = csv.DictReader(io.StringIO(written, newline=""), strict=True)

        assert (row["id"], row["note"]) == (str(len(text)), "beside")
        assert row["name"].replace("'", "").split() == text.split()


def test_the_message_goes_out_after_the_commit(auditor, published, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        answer = ask(auditor, "xlsx")

    export = Export.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, "/files/")
    assert published == [("ledger.tasks.write_statement", export.pk)]
    assert (export.state, export.owner.username) == (ExportState.WAITING, "auditor")


def test_a_fourth_file_waits_for_one_of_three_and_two_clicks_make_one(auditor):
    for kind in ("debit", "debit", "refund", "topup", "hold"):
        answer = ask(auditor, "csv", f"kind={kind}")

    assert Export.objects.count() == 3
    assert [message.level_tag for message in get_messages(answer.wsgi_request)] == ["error"]


def test_the_page_follows_a_file_until_it_is_ready(auditor, monkeypatch):
    open_books()
    ask(auditor, "xlsx")
    export = Export.objects.get()

    page = auditor.get("/files/")
    question, _seconds = next_question(page)
    Export.objects.update(state=ExportState.WRITING, rows_total=4, rows_done=1)
    news = auditor.get(question).content.decode()
    Export.objects.update(state=ExportState.WAITING)
    write_statement(export.pk)
    ready = auditor.get("/files/")

    assert 'max="4"' in news
    assert f'href="/files/{export.pk}/"' in ready.content.decode()
    assert next_question(ready) is None
    assert len(cells(ready, "file")) == 1


def test_the_page_shows_how_far_a_file_is(auditor, monkeypatch):
    # given a file of some entries, read two at a time
    open_books()
    for _ in range(2):
        spend(10_500)
    entries = Entry.objects.count()
    ask(auditor, "csv")
    export = Export.objects.get()
    monkeypatch.setattr(services, "_CHUNK", 2)
    seen: list[tuple[int, int]] = []
    hold = services._hold

    def look(mine: Export, **facts: int):
        hold(mine, **facts)
        seen.append(Export.objects.values_list("rows_done", "rows_total").get())

    monkeypatch.setattr(services, "_hold", look)

    write_statement(export.pk)

    assert entries > 4
    assert seen[:3] == [(0, entries), (2, entries), (4, entries)]


def test_only_its_owner_downloads_a_file_while_they_see_costs_and_for_a_day(auditor, admin):
    open_books()
    made(auditor, "csv")
    export = Export.objects.get()

    assert admin.get(f"/files/{export.pk}/").status_code == 404
    assert has_id(admin.get("/files/"), "none-yet")
    for group in export.owner.groups.all():
        group.permissions.remove(*group.permissions.filter(codename="view_cost"))
    assert export.owner.has_perm("ledger.view_entry")
    assert auditor.get(f"/files/{export.pk}/").status_code == 403

    with later(25 * 60):
        services.tidy_exports()
    assert not ExportPart.objects.exists()
    assert not Export.objects.exists()


def test_a_killed_workers_file_is_begun_again(auditor, published, monkeypatch):
    open_books()
    ask(auditor, "csv")
    export = Export.objects.get()

    def killed(*_: object):
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(services, "_store", killed)
        with pytest.raises(SystemExit):
            write_statement(export.pk)
    write_statement(export.pk)
    held = Export.objects.get()
    with later(3):
        services.tidy_exports()
        write_statement(export.pk)

    assert (held.state, held.tries) == (ExportState.WRITING, 1)
    assert published == [("ledger.tasks.write_statement", export.pk)]
    assert Export.objects.get().state == ExportState.READY


def test_a_worker_that_was_overtaken_stores_nothing(auditor, monkeypatch):
    open_books()
    ask(auditor, "csv")
    export = Export.objects.get()
    store = services._store

    def overtaken(mine: Export, file):
        Export.objects.update(next_try_at=timezone.now())
        monkeypatch.setattr(services, "_store", store)
        write_statement(export.pk)
        store(mine, file)

    monkeypatch.setattr(services, "_store", overtaken)
    write_statement(export.pk)

    assert Export.objects.get().tries == 2
    assert ExportPart.objects.count() == 1


def test_after_three_killed_workers_the_file_is_given_up(auditor):
    ask(auditor, "csv")
    Export.objects.update(tries=services.MOST_TRIES)

    write_statement(Export.objects.get().pk)

    assert Export.objects.get().state == ExportState.FAILED
    assert auditor.get(f"/files/{Export.objects.get().pk}/").status_code == 404
    assert auditor.get("/files/").status_code == 200


def test_entries_written_meanwhile_are_left_out(auditor, monkeypatch):
    open_books()
    monkeypatch.setattr(services, "_CHUNK", 1)
    hold, posted = services._hold, []

    def meanwhile(export: Export, **facts):
        hold(export, **facts)
        if not posted:
            posted.append(spend(1_000))

    monkeypatch.setattr(services, "_hold", meanwhile)
    rows = csv_rows(made(auditor, "csv"))

    assert posted
    assert len(rows) == 1
    assert Entry.objects.count() == 4


def test_a_file_in_parts_is_whole(auditor, monkeypatch):
    open_books()
    spend(1_000)
    monkeypatch.setattr(services, "_PART_BYTES", 10)

    rows = csv_rows(made(auditor, "csv"))

    assert len(rows) == 4
    assert ExportPart.objects.count() > 10
    assert Export.objects.get().size == sum(len(part.content) for part in ExportPart.objects.all())


def test_a_deleted_files_message_does_nothing(db):
    write_statement(12345)
    assert not Export.objects.exists()
