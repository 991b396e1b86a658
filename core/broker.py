"""Celery's way to Redis."""

from __future__ import annotations

from typing import Any

from kombu.transport import redis


class _Channel(redis.Channel):
    """Keeps its client. Kombu makes a new one for each message that it sends, takes and acknowledges."""

    _kept: Any = None

    def _create_client(self, asynchronous: bool = False) -> Any:
        make: Any = super()._create_client  # type: ignore[misc]  # the stubs leave it out
        if asynchronous:
            return make(asynchronous=True)
        if self._kept is None or self._kept.connection_pool is not self.pool:
            self._kept = make()
        return self._kept


class Transport(redis.Transport):
    """Kombu's transport, with our channel."""

    Channel = _Channel
