"""`./run manage batch`: a table is checked, then exactly its rows are sold; exit codes as in similar commands."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from batches.models import Batch
from purchases.models import Order
from tests.conftest import Upstream

pytestmark = pytest.mark.django_db


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code, and the JSON that it prints."""
    with pytest.raises(SystemExit) as ended:
        call_command("batch", *arguments, "--json")
    return int(ended.value.code or 0), json.loads(capsys.readouterr().out)


def test_a_checked_file_is_sold_by_its_key_once(upstream: Upstream, tmp_path: Path, capsys: Any):
    file = tmp_path / "staff.csv"
    file.write_text("081290000001;10;Sari\n081290000102;20;Ani\n")

    code, checked = run(capsys, str(file))
    assert (code, checked["state"], checked["totals"]["count"]) == (0, "checked", 2)
    with pytest.raises(CommandError, match="changed"):
        call_command("batch", "--release", f"{Batch.objects.get().pk}-0123456789abcdef")
    assert not Order.objects.exists()

    assert run(capsys, "--release", checked["key"])[0] == 3, "without waiting it is not final"
    code, sold = run(capsys, "--release", checked["key"], "--wait", "20")
    assert (code, sold["state"]) == (0, "ended")
    assert [row["status"] for row in sold["rows"]] == ["success", "success"]
    assert all(row["sn"] for row in sold["rows"])
    assert sold["sold"] == checked["totals"]
    assert sold["never_ordered"] == {"count": 0, "pays": 0}

    assert run(capsys, "--release", checked["key"])[0] == 0
    assert run(capsys, str(file))[1]["batch"] == checked["batch"]
    assert Order.objects.count() == 2


def test_a_fault_is_one_and_a_failed_row_too(upstream: Upstream, tmp_path: Path, capsys: Any):
    file = tmp_path / "staff.csv"
    file.write_text("081290000004;10\n8.12E+10;10\n081290000001;10\n")

    code, checked = run(capsys, str(file))
    assert (code, [row["fault"] for row in checked["rows"]]) == (1, [None, "digits_lost", None])

    code, came = run(capsys, "--release", checked["key"], "--wait", "20")
    assert (code, came["rows"][0]["status"]) == (1, "failed")
    assert came["rows"][0]["words"] == "The transaction failed; the balance was refunded."

    with pytest.raises(SystemExit):
        call_command("batch", "--release", checked["key"])
    assert "1 sold, 0 open, 1 failed, 0 not sent yet, 1 left out." in capsys.readouterr().out


def test_what_makes_no_sense_is_one_sentence(upstream: Upstream):
    for arguments, code in [
        ([], 2),
        (["x.csv", "--release", "1-a"], 2),
        (["gone.csv"], 2),
        (["--release", "9-abc"], 1),
    ]:
        with pytest.raises(CommandError) as refused:
            call_command("batch", *arguments)

        assert refused.value.returncode == code, arguments
