"""Connections that stay open are shared among the web processes: each is closed after a while.

The process that is free first takes the next connection. Without this, people would stay all day with the process that
accepted them first.
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
