"""The limits of a web process: how long a connection stays, how long half a request takes, how many an address has."""

import time
from collections.abc import Iterable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

from django.conf import settings
from waitress.channel import HTTPChannel
from waitress.task import WSGITask

from core.addresses import address_from

# After this many answers a connection ends. The last answer announces it, so that no request is lost.
MOST_ANSWERS = 20
# The longest time (seconds) from a request's first byte to its last. The largest form takes 2 s on a slow mobile line.
WHOLE_SECONDS = 20.0
# The most half-sent requests of one address at a time. A browser opens six; many browsers share the address of a shop,
# but each only for a moment.
MOST_FROM_ONE = 32


class _Task(WSGITask):  # type: ignore[misc]
    def build_response_header(self) -> bytes:
        self.channel.answers += 1
        if self.channel.answers >= MOST_ANSWERS:
            self.request.headers["CONNECTION"] = "close"
        header: bytes = super().build_response_header()
        return header


class SharedChannel(HTTPChannel):  # type: ignore[misc]
    """A connection that ends after `MOST_ANSWERS`.

    The next connection goes to the process that is free first. Without this limit, people would stay all day with the
    process that accepted them first.
    """

    task_class = _Task
    answers = 0


class HalfSent:
    """Knows since when each half-sent request has been under way.

    Each request takes a place among the connections, and no thread. Without these limits one client could take all
    places and shut everybody out; with them the client shuts out only itself.
    """

    def __init__(self) -> None:
        self._begun: WeakKeyDictionary[Any, float] = WeakKeyDictionary()

    def overdue(self, channels: Iterable[Any]) -> Iterator[Any]:
        """The channels (of waitress) to be closed: those that took too long, and the oldest of too many."""
        now = time.monotonic()
        waiting: dict[str, list[tuple[float, float, int, Any]]] = {}
        for channel in list(channels):
            if channel.will_close or not is_unfinished(channel):
                continue
            begun = self._begun.setdefault(channel.request or channel, now)
            if now - begun > WHOLE_SECONDS:
                yield channel
            elif address := self._address(channel):
                waiting.setdefault(address, []).append((begun, channel.creation_time, id(channel), channel))
        for of_address in waiting.values():
            yield from (channel for *_, channel in sorted(of_address)[:-MOST_FROM_ONE])

    def _address(self, channel: Any) -> str:
        """The sender: the peer, or behind proxies the address that the outermost saw; "" before a header has come.

        A proxy sends a complete header at once, so connections without a header are the proxy's own spare ones.
        """
        if not settings.TRUSTED_PROXY_COUNT:
            return str(channel.addr[0])
        if channel.request is None or not channel.request.headers_finished:
            return ""
        return address_from(channel.request.headers.get("X_FORWARDED_FOR", ""), peer=str(channel.addr[0]))


def is_unfinished(channel: Any) -> bool:
    """Whether a request has begun and is incomplete, or nothing has come yet; False while waiting for the next one."""
    if channel.requests or channel.total_outbufs_len:
        return False
    return channel.request is not None or channel.last_activity == channel.creation_time
