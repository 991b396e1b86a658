"""A small launcher for tests: keeps the stores of the folder named on the command line until it gets SIGTERM."""

import json
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from backoffice.launcher.data_folder import DataFolderInUseError, held
from backoffice.launcher.embedded import Stores
from backoffice.launcher.processes import Family


def main() -> None:
    """Print one JSON line when everything answers, then stay."""
    folder = Path(sys.argv[1])
    family = Family()
    wishes: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: wishes.append(number))
    try:
        with held(folder):
            stores = Stores(folder, family)
            stores.start("rows")
            assert stores.postgres is not None
            assert stores.valkey is not None
            found = {
                "database_url": stores.postgres.url("rows"),
                "redis_url": stores.valkey.url(),
                "guardian": family.guardian_pid,
                "children": [child.pid for child in stores.children()],
            }
            print(json.dumps(found), flush=True)
            while not wishes:
                if family.guardian_pid not in (None, found["guardian"]):
                    print(json.dumps({"guardian": family.guardian_pid}), flush=True)
                    found["guardian"] = family.guardian_pid
                family.keep_guardian()
                time.sleep(0.05)
            stores.stop()
            family.close()
    except DataFolderInUseError:
        sys.exit("in use")


if __name__ == "__main__":
    main()
