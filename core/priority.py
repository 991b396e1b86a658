"""When all of the processor is in use, the processes that people wait for come first."""

import os
import time
from pathlib import Path

# Beside a normal process, one that stepped back gets about a tenth of a core that both want.
NICENESS = 10
_AUTOGROUP = Path("/proc/self/autogroup")


def step_back() -> None:
    """Let the web processes go first. Call it before the process starts its threads, which take over its niceness.

    A kernel that weighs sessions against each other (`autogroup`) applies the niceness only inside a session. So a
    session of this process's own, as the launcher makes it, steps back, too; the session of a terminal does not.
    If processes have control groups, these decide (CPUWeight of the units, cpu_shares).
    """
    os.nice(NICENESS)
    if os.getsid(0) != os.getpid():
        return
    for _ in range(5):
        try:
            _AUTOGROUP.write_text(str(NICENESS))
        except BlockingIOError:  # the kernel takes one change in a tenth of a second, from all processes
            time.sleep(0.15)
        except OSError:  # another kernel: only the niceness counts
            return
        else:
            return
