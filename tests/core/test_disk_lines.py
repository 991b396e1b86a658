"""Lines on the disk are whole, also from several writers, or on a disk that is full or does not answer."""

import json
import threading
from pathlib import Path

import pytest

from core import disk_lines
from core.disk_lines import DiskLines


def lines_in(folder: Path) -> list[int]:
    (day,) = folder.glob("*.jsonl")
    return [json.loads(line)["n"] for line in day.read_text().splitlines() if line]


def test_several_writers_keep_their_lines_whole(tmp_path):
    writers = [DiskLines(tmp_path / "sent") for _ in range(4)]

    def write(writer: DiskLines, first: int) -> None:
        for number in range(first, first + 25):
            assert writer.is_written(writer.begin(json.dumps({"n": number, "rest": "x" * 5000})))

    threads = [threading.Thread(target=write, args=(writer, 25 * n)) for n, writer in enumerate(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert sorted(lines_in(tmp_path / "sent")) == list(range(100))
    (day,) = (tmp_path / "sent").glob("*.jsonl")
    assert (day.stat().st_mode & 0o777, day.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_line_that_was_cut_off_spoils_no_other(tmp_path):
    writer = DiskLines(tmp_path)
    assert writer.is_written(writer.begin('{"n":1}'))
    (day,) = tmp_path.glob("*.jsonl")
    with day.open("a") as file:
        file.write('{"n":')

    assert writer.is_written(writer.begin('{"n":2}'))

    assert [line for line in day.read_text().splitlines() if line] == ['{"n":1}', '{"n":', '{"n":2}']


def test_a_folder_that_cannot_be_written_is_a_line_that_was_not_written(tmp_path):
    (tmp_path / "sent").write_text("no folder")
    writer = DiskLines(tmp_path / "sent")

    assert not writer.is_written(writer.begin("{}"))


def test_a_disk_that_does_not_answer_holds_up_one_caller_once(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(disk_lines, "PATIENCE_SECONDS", 0.05)
    writer, answers, append = DiskLines(tmp_path), threading.Event(), DiskLines._append
    monkeypatch.setattr(DiskLines, "_append", lambda self, text: answers.wait(10) and append(self, text))
    first = writer.begin('{"n":1}')
    assert not writer.is_written(first)
    monkeypatch.setattr(disk_lines, "PATIENCE_SECONDS", 10)

    second = writer.begin('{"n":2}')
    assert not writer.is_written(second)  # at once: it would have waited for ten seconds

    # when: the disk answers again, nothing is lost
    answers.set()
    assert first.result(5)
    assert second.result(5)
    assert writer.is_written(writer.begin('{"n":3}'))
    assert lines_in(tmp_path) == [1, 2, 3]
