"""Celery's way to Redis."""

import time
from typing import Any

from kombu.transport import redis


class _QoS(redis.QoS):
    """Keeps the messages of tasks that still run, however long they take.

    Kombu would hand out each again after `visibility_timeout`, until copies of one task hold every thread. Only a
    process that has ended, or stands still, lets its messages become as old as that.
    """

    channel: Any  # the stubs know only the base of all transports

    def restore_visible(self, *args: Any, **kwargs: Any) -> None:
        """Note that our messages are in hand, then hand out again those that nobody has; every few seconds."""
        if self._delivered:
            with self.channel.conn_or_acquire() as client:
                # `xx`: a task that ends at this moment takes its message out, and it stays out
                client.zadd(self.unacked_index_key, dict.fromkeys(self._delivered, time.time()), xx=True)
        super().restore_visible(*args, **kwargs)


class _Channel(redis.Channel):
    """Keeps its client. Kombu makes a new one for each message that it sends, takes and acknowledges."""

    QoS = _QoS
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
