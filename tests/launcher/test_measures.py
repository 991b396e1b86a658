"""The folder in memory to which processes write their measures."""

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
