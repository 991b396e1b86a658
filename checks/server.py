"""A PostgreSQL for one check, which leaves nothing behind."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from launcher.postgresql import PostgreSQL
from launcher.processes import ProcessGroup


@contextmanager
def throw_away_server(*databases: str) -> Iterator[PostgreSQL]:
    """A running server with these empty databases; it is stopped and its folder deleted at the end."""
    group = ProcessGroup()
    folder = Path(tempfile.mkdtemp(prefix="backoffice-check-"))
    folder.chmod(0o711)  # as root, PostgreSQL runs as another user
    group.discard_at_end(folder)
    server = PostgreSQL(folder, group, durable=False)
    try:
        server.start()
        server.wait_ready(*databases)
        yield server
    finally:
        server.stop(grace=0.5)
        group.close()
