"""The journal of sent orders is copied to the folder of backups, and old days are deleted."""

import datetime as dt
import os

from launcher.backups import delete_days_before
from launcher.sent_copies import copy_lines


def test_what_was_appended_is_appended_to_the_copy(tmp_path):
    sent, folder = tmp_path / "data/sent", tmp_path / "backups"
    sent.mkdir(parents=True)
    folder.mkdir()
    copy_lines(sent, folder)
    assert not (folder / "sent").exists()

    for line in ("one\n", "two\n"):
        with (sent / "20261126.jsonl").open("a") as day:
            day.write(line)
        copy_lines(sent, folder)

    (copy,) = (folder / "sent").iterdir()
    assert copy.read_text() == "one\ntwo\n"
    assert copy.stat().st_mode & 0o777 == 0o600
    # a shop that was restored there writes to a file of its own
    other = tmp_path / "restored/sent"
    other.mkdir(parents=True)
    (other / copy.name).write_text(copy.read_text())
    (other / "20261126.jsonl").write_text("three\n")
    copy_lines(other, folder)
    assert sorted(path.read_text() for path in (folder / "sent").iterdir()) == ["one\ntwo\n", "three\n"]


def test_after_a_full_disk_two_data_folders_never_share_a_copy(tmp_path):
    folder = tmp_path / "backups"
    folder.mkdir()
    for line in ("one\n", "two\n"):
        sent = tmp_path / line.strip() / "sent"
        sent.mkdir(parents=True)
        (sent / "name").touch()  # there was no room for the name itself
        (sent / "20261126.jsonl").write_text(line)
        copy_lines(sent, folder)

    assert sorted(path.read_text() for path in (folder / "sent").iterdir()) == ["one\n", "two\n"]


def test_what_was_appended_after_the_clock_was_set_back_is_copied(tmp_path):
    sent, folder = tmp_path / "data/sent", tmp_path / "backups"
    sent.mkdir(parents=True)
    folder.mkdir()
    for name, line, hour in (("20261127.jsonl", "one\n", 2), ("20261126.jsonl", "two\n", 19)):
        (sent / name).write_text(line)
        at = dt.datetime(2026, 11, int(name[6:8]), hour, tzinfo=dt.UTC).timestamp()
        os.utime(sent / name, (at, at))
        copy_lines(sent, folder)

    assert sorted(path.read_text() for path in (folder / "sent").iterdir()) == ["one\n", "two\n"]


def test_days_before_those_that_are_kept_are_deleted(tmp_path):
    for name in ("20261118.jsonl", "20261118-4f1d2c3b.jsonl", "20261119.jsonl", "unlucky!.jsonl", "copied"):
        (tmp_path / name).touch()

    delete_days_before(tmp_path, dt.datetime(2026, 11, 19, 1, tzinfo=dt.UTC))

    assert sorted(path.name for path in tmp_path.iterdir()) == ["20261119.jsonl", "copied", "unlucky!.jsonl"]
