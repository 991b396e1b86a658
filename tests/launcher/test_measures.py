"""The folder in memory to which processes write their measures."""

import tempfile
from pathlib import Path

from launcher.processes import ProcessGroup
from launcher.stack import MEMORY, new_folder_in_memory


def test_a_link_that_leads_nowhere_any_more_is_made_again(tmp_path: Path) -> None:
    # given: the machine was restarted, and its memory is empty
    link = tmp_path / "metrics"
    link.symlink_to(MEMORY / "backoffice-gone")
    group = ProcessGroup()

    try:
        folder = new_folder_in_memory(link, group)

        assert folder.is_dir()
    finally:
        group.close()
    assert not folder.exists()


def test_what_a_launcher_that_was_killed_with_its_watchdog_has_left_is_deleted(tmp_path: Path) -> None:
    left = Path(tempfile.mkdtemp(prefix="backoffice-", dir=MEMORY))
    (tmp_path / "metrics").symlink_to(left)
    group = ProcessGroup()

    try:
        assert new_folder_in_memory(tmp_path / "metrics", group).is_dir()
    finally:
        group.close()
    assert not left.exists()
