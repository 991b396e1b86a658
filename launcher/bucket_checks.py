"""Once a day, compares name, size and ETag of each object in the bucket with a record of the copied objects.

The key that opens the objects is not on this machine. A person with the key runs `./run drill --from s3://…` on any
machine; the drill leaves its result in the bucket, and the comparison brings it here.
"""

import contextlib
import datetime as dt
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from launcher.backups import PARTIAL
from launcher.bucket import SEALED, Bucket, Stored
from launcher.data_folder import read_json, write_json

# In the data folder: the copied objects, and the result of the last comparison.
RECORD = "bucket-record.json"
# In the data folder: the result of the last drill from the bucket. The pages read it.
DRILLED = "bucket-drill.json"
# In the bucket: the same result, perhaps of another machine.
DRILLED_THERE = "drilled/last.json"
EVERY = dt.timedelta(days=1)
_GROWING = (f"{PARTIAL}{SEALED}", f".jsonl{SEALED}")
_SHOWN = 3
_MOST_BYTES = 10_000


class Record:
    """The objects that were copied to one bucket, kept in the data folder; another bucket begins a new record."""

    def __init__(self, data: Path, bucket: Bucket) -> None:
        self._data = data
        self._bucket = bucket
        written = read_json(data / RECORD)
        is_ours = written.get("bucket") == bucket.address
        objects = written["objects"] if is_ours else {}
        # objects that grow are copied again at each start, so the kept record is old for them
        self._objects = {name: Stored(*facts) for name, facts in objects.items() if not name.endswith(_GROWING)}
        # when it was last compared, how many objects were lost, and the first of their names
        self.result: dict[str, Any] = written["result"] if is_ours else {}

    def add(self, name: str, stored: Stored) -> None:
        """Note an object that the bucket has taken."""
        self._objects[name] = stored

    def forget(self, names: Iterable[str]) -> None:
        """Expect these objects no longer."""
        for name in names:
            self._objects.pop(name, None)

    def is_due(self, now: dt.datetime) -> bool:
        """Whether the last comparison is a day old, or there was none; one of a wrong clock may be of a later time."""
        at = self.result.get("at")
        return at is None or abs(now - dt.datetime.fromisoformat(at)) >= EVERY

    def compare(self, now: dt.datetime) -> list[str]:
        """The names of objects that are missing or changed. The record forgets them, and takes in unknown objects."""
        expected = dict(self._objects)  # before the listing: another thread copies meanwhile
        there = self._bucket.objects()
        lost = [name for name, stored in expected.items() if self._objects.get(name) == stored != there.get(name)]
        self.forget(lost)
        for name, stored in there.items():
            self._objects.setdefault(name, stored)
        self.result = {"at": now.isoformat(timespec="seconds"), "lost": len(lost), "names": sorted(lost)[:_SHOWN]}
        self._bring_drill(there)
        self.keep()
        return lost

    def keep(self) -> None:
        """Write the record to the data folder."""
        content = {"bucket": self._bucket.address, "objects": dict(self._objects), "result": self.result}
        write_json(self._data / RECORD, content)

    def _bring_drill(self, there: Mapping[str, Stored]) -> None:
        """Bring the result of the last drill, which may have been made on another machine."""
        if DRILLED_THERE not in there or there[DRILLED_THERE].size > _MOST_BYTES:
            return
        with contextlib.suppress(ValueError, KeyError, TypeError):  # others may write to the bucket, too
            result = json.loads(self._bucket.get(DRILLED_THERE))
            at = dt.datetime.fromisoformat(result["at"])
            last = read_json(self._data / DRILLED).get("at")
            if last is None or at > dt.datetime.fromisoformat(last):
                write_json(self._data / DRILLED, result)
