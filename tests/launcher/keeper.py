"""A small launcher for tests: keeps the stores of the folder named on the command line until it gets SIGTERM."""

import json
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from launcher.data_folder import DataFolderInUseError, held
from launcher.database_roles import OWNER
from launcher.embedded import Stores
from launcher.processes import ProcessGroup


def main() -> None:
    """Print one JSON line when everything answers, then stay."""
    folder = Path(sys.argv[1])
    group = ProcessGroup()
    wishes: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: wishes.append(number))
    try:
        with held(folder):
            stores = Stores(folder, group)
            stores.start("rows")
            assert stores.postgres is not None
            assert stores.valkey is not None
            stores.postgres.set_up_roles({"rows": OWNER}, guests={})
            state = {
                "database_url": stores.postgres.url("rows"),
                "redis_url": stores.valkey.url(),
                "watchdog": group.watchdog_pid,
                "children": [service.child.pid for service in stores.services()],
            }
            print(json.dumps(state), flush=True)
            while not wishes:
                if group.watchdog_pid not in (None, state["watchdog"]):
                    print(json.dumps({"watchdog": group.watchdog_pid}), flush=True)
                    state["watchdog"] = group.watchdog_pid
                group.keep_watchdog()
                time.sleep(0.05)
            stores.stop()
            group.close()
    except DataFolderInUseError:
        sys.exit("in use")


if __name__ == "__main__":
    main()
