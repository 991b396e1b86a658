"""The upstream's part in `benchmarks/callbacks.py`: signed callbacks, as many as get through or so many a second."""

import hashlib
import hmac
import http.client
import json
import selectors
import socket
import threading
import time
import uuid
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

KEY = "test-secret-key"
CONNECTIONS = 8
Facts = tuple[str, str, str, int]  # an order's ref_id, product code, destination, price


def shoot(port: int, orders: Sequence[Facts]) -> dict[str, Any]:
    """Send the success of each order as fast as possible, over `CONNECTIONS`; returns seconds and statuses."""
    requests = [signed(facts) for facts in orders]
    statuses: Counter[int] = Counter()
    lock, numbers = threading.Lock(), iter(range(len(requests)))
    began = time.monotonic()

    def send() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            connection.request("POST", "/callbacks/upstream/", *requests[number])
            answer = connection.getresponse()
            answer.read()
            with lock:
                statuses[answer.status] += 1

    threads = [threading.Thread(target=send) for _ in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"seconds": time.monotonic() - began, "statuses": statuses}


def send_at(rate: float, port: int, orders: Sequence[Facts], queue: Any) -> None:
    """Send the success of each order, so many a second; put seconds, statuses and times into the queue.

    It uses one thread and requests made before: the real upstream is another machine, so it must cost this one little.
    """
    requests = [as_bytes(*signed(facts)) for facts in orders]
    selector = selectors.DefaultSelector()
    free = deque(socket.create_connection(("127.0.0.1", port)) for _ in range(4 * CONNECTIONS))
    for connection in free:
        selector.register(connection, selectors.EVENT_READ)
    times: list[float] = []
    statuses: Counter[int] = Counter()
    sent: dict[Any, float] = {}  # connection → when its request was due
    read: dict[Any, bytes] = {}  # connection → the bytes of its answer so far
    began, number = time.monotonic() + 0.2, 0
    while number < len(requests) or sent:
        due = began + number / rate
        while number < len(requests) and free and due <= time.monotonic():
            connection = free.popleft()
            connection.sendall(requests[number])
            sent[connection] = due
            number += 1
            due = began + number / rate
        for key, _events in selector.select(max(0.0, due - time.monotonic()) if free else 1.0):
            readable: Any = key.fileobj
            part = readable.recv(65536)
            assert part, "the server has ended a connection"
            read[readable] = read.get(readable, b"") + part
            if part.endswith(b"}"):
                times.append(time.monotonic() - sent.pop(readable))
                statuses[int(read.pop(readable)[9:12])] += 1
                free.append(readable)
    queue.put({"seconds": time.monotonic() - began, "statuses": dict(statuses), "times": times})


def as_bytes(body: bytes, headers: dict[str, str]) -> bytes:
    """A callback as it goes over the wire."""
    first = ["POST /callbacks/upstream/ HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(body)}"]
    lines = [*first, *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode() + body


def signed(facts: Facts) -> tuple[bytes, dict[str, str]]:
    """Body and headers of one callback."""
    ref_id, code, destination, price = facts
    data = {
        "trx_id": "T",
        "ref_id": ref_id,
        "product_code": code,
        "product_name": "Telkomsel 10.000",
        "destination": destination,
        "price": price,
        "status": "success",
        "sn": uuid.uuid4().hex,
        "message": "The transaction was successful.",
        "balance": 1_000_000,
    }
    body = json.dumps({"event": "transaction.success", "timestamp": "2026-11-22T10:00:12+07:00", "data": data}).encode()
    headers = {
        "Content-Type": "application/json",
        "X-Event": "transaction.success",
        "X-Delivery-Id": str(uuid.uuid4()),
        "X-Signature": hmac.new(KEY.encode(), body, hashlib.sha256).hexdigest(),
    }
    return body, headers
