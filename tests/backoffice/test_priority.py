"""The order in which processes get a busy processor; `tests/launcher/test_running_everything.py` sees it in `./run`."""

import subprocess
import sys
from pathlib import Path

import pytest

from testing.sandbox_process import PROJECT


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="this kernel does not weigh sessions")
def test_the_terminal_of_who_starts_one_by_hand_stays_as_it_is():
    step = f"{sys.executable} -c 'from core.priority import step_back; step_back()' && cat /proc/self/autogroup"

    seen = subprocess.run(
        ["sh", "-c", step], cwd=PROJECT, start_new_session=True, capture_output=True, text=True, check=True
    )

    assert seen.stdout.split()[-1] == "0", seen.stderr
