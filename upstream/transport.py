"""One HTTP POST, and certainty about whether it was sent.

`requests` alone cannot give two things that money needs:

- *Was a byte of the request written?* Its exceptions do not say so reliably. So the connection sets a mark just before
  it writes. A failure before the mark is `NotSent`; a failure after it, of any class, is `Lost`.
- *A deadline for the whole call.* Its read timeout starts again with every byte. So `_DeadlineReader` reads the answer
  and gives each read only the time that is left, headers included.

Each address of the host gets the connect timeout. If one connect timeout in total has passed before the first byte,
nothing is written any more, so that no request goes out later than that.
"""

import http.client
import io
import os
import socket
import threading
import time
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import requests
import structlog
import urllib3
from requests.adapters import HTTPAdapter

from core.tracing import traceparent

USER_AGENT = "merchant-backoffice"
_CHUNK = 64 * 1024

log = structlog.get_logger(__name__)


class NotSent(Exception):
    """No byte of the request was written."""


class Lost(Exception):
    """The request may have arrived, but there is no answer: `reason` is "timeout" or "connection"."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class HttpReply:
    """The answer. `retry_after` is the header's text; `body` is None if it was longer than allowed, or encoded.

    `written_at`: the moment just after the last part of the request was written (`time.monotonic()`).
    """

    status: int
    retry_after: str | None
    body: bytes | None
    written_at: float | None


class _Exchange:
    """The state of the call that this thread is making (times are `time.monotonic()`)."""

    def __init__(self, began_at: float, connect_timeout: float, read_timeout: float) -> None:
        self.write_by = began_at + connect_timeout
        self.deadline = self.write_by + read_timeout
        self.written_at: float | None = None
        self.timed_out = False

    def remaining(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            self.timed_out = True
            raise TimeoutError
        return left


_current: ContextVar[_Exchange] = ContextVar("exchange")


class _DeadlineReader(io.RawIOBase):
    """Reads a socket, giving each read only the time left until the deadline of the whole call."""

    def __init__(self, sock: socket.socket, exchange: _Exchange) -> None:
        self._sock = sock
        self._raw = sock.makefile("rb", buffering=0)
        self._exchange = exchange

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(self._exchange.remaining())
        try:
            return self._raw.readinto(buffer)
        except TimeoutError:
            self._exchange.timed_out = True
            raise

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        unbounded = self.fp
        self.fp = io.BufferedReader(_DeadlineReader(sock, _current.get()))
        unbounded.close()


class _Connection(urllib3.connection.HTTPConnection):
    response_class = _Response

    def send(self, data: Any) -> None:
        if self.sock is None:
            self.connect()
        exchange = _current.get()
        if exchange.written_at is None and time.monotonic() > exchange.write_by:
            self.close()  # this process was frozen, or connecting took long: nobody waits for this call any more
            raise TimeoutError
        exchange.written_at = time.monotonic()  # from here on a byte may have been written
        super().send(data)
        exchange.written_at = time.monotonic()


class _TlsConnection(_Connection, urllib3.connection.HTTPSConnection):
    """The same over TLS."""


class _Pool(urllib3.HTTPConnectionPool):
    ConnectionCls = _Connection


class _TlsPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _TlsConnection


class _Adapter(HTTPAdapter):
    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _TlsPool}


_HEADERS = {
    "User-Agent": USER_AGENT,
    "Accept": "application/json",
    "Accept-Encoding": "identity",  # a compressed answer could be a bomb
    "Content-Type": "application/json",
}


@lru_cache(maxsize=64)
def _request_to(url: str) -> requests.PreparedRequest:
    return requests.Request("POST", url, headers=_HEADERS).prepare()


class Transport:
    """Sends POST requests. Each thread of a process has two adapters; a fork never shares a socket with its parent.

    It uses the adapters without a session: so there are no proxies, no .netrc, no certificates from the environment, no
    cookies and no redirects, and a call costs half as much.
    """

    def __init__(self, *, connect_timeout: float, read_timeout: float, name: str = "upstream") -> None:
        self._name = name  # for the log, which never holds the address
        self._timeouts = (connect_timeout, read_timeout)
        self._local = threading.local()

    def post(self, url: str, body: bytes, *, began_at: float, max_bytes: int, fresh_connection: bool) -> HttpReply:
        """Send `body` and return the answer, of any status. Raises `NotSent` or `Lost`, nothing else.

        `began_at`: the beginning of the call (`time.monotonic()`), from which its timeouts count. `fresh_connection`:
        use no kept-alive connection. The upstream may have just closed one, and then a request that nobody read would
        have an unknown outcome.
        """
        exchange = _Exchange(began_at, *self._timeouts)
        token = _current.set(exchange)
        failure: str | None = None
        try:
            return self._exchange(url, body, max_bytes, close=fresh_connection)
        except Exception as error:  # the connection knows what happened; the class of the error does not matter
            failure = type(error).__name__
        finally:
            _current.reset(token)
        # raised here, so that no traceback leads to the request and its signature
        is_written = exchange.written_at is not None
        log.warning("connection failed", to=self._name, written=is_written, error=failure)
        if not is_written:
            raise NotSent
        raise Lost("timeout" if exchange.timed_out else "connection")

    def _adapter(self, *, fresh: bool) -> _Adapter:
        """This thread's adapter for calls on a kept-alive connection, or (`fresh`) each on a new connection."""
        if getattr(self._local, "pid", None) != os.getpid():
            self._local.adapters = {kind: _Adapter(pool_connections=1, pool_maxsize=1) for kind in (False, True)}
            self._local.pid = os.getpid()
        adapter: _Adapter = self._local.adapters[fresh]
        return adapter

    def _exchange(self, url: str, body: bytes, max_bytes: int, *, close: bool) -> HttpReply:
        request = _request_to(url).copy()
        request.body = body
        request.headers["Content-Length"] = str(len(body))
        if close:
            request.headers["Connection"] = "close"
        if trace := traceparent():
            request.headers["traceparent"] = trace
        adapter = self._adapter(fresh=close)
        try:
            with adapter.send(request, stream=True, timeout=self._timeouts) as response:
                return HttpReply(
                    status=response.status_code,
                    retry_after=response.headers.get("Retry-After"),
                    body=_read(response, max_bytes),
                    written_at=_current.get().written_at,
                )
        finally:
            if close:
                adapter.close()  # even if the upstream keeps it open


def _read(response: requests.Response, max_bytes: int) -> bytes | None:
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        return None
    received = bytearray()
    for chunk in response.iter_content(_CHUNK):
        received += chunk
        if len(received) > max_bytes:
            return None
    return bytes(received)
