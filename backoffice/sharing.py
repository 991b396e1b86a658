"""Connections that stay open are shared among the web processes: one that has served for a while is closed.

Whoever comes back is taken by the process that is free first. Without this the people whom one process happened to
accept would stay with it all day.
"""

from __future__ import annotations

from waitress.channel import HTTPChannel
from waitress.task import WSGITask

# So many answers, then the last one says that the connection ends, and no request is lost on the way.
MOST_ANSWERS = 20


class _Task(WSGITask):  # type: ignore[misc]
    def build_response_header(self) -> bytes:
        self.channel.answers += 1
        if self.channel.answers >= MOST_ANSWERS:
            self.request.headers["CONNECTION"] = "close"
        header: bytes = super().build_response_header()
        return header


class SharedChannel(HTTPChannel):  # type: ignore[misc]
    """A connection that ends after `MOST_ANSWERS`."""

    task_class = _Task
    answers = 0
