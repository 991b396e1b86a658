"""Every journey's check of a page waits for the page that a click has requested."""

import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from tests.journeys.helpers import OpenWindow, faults_of

pytestmark = pytest.mark.journey

PAGE = (
    b"<!doctype html><html lang=en><title>Shop</title><link rel=icon href=data:,>"
    b"<main><h1>Shop</h1><a href=/late/>Late</a>%s</main></html>"
)
FAULTS = b"<img><p style='color: #ddd'>Pale</p>"


class LatePages(BaseHTTPRequestHandler):
    """`/late/` answers at once, and sends its page half a second later; the page has two faults."""

    def do_GET(self) -> None:
        late = self.path == "/late/"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        if late:
            self.wfile.flush()
            time.sleep(0.5)
        self.wfile.write(PAGE % (FAULTS if late else b""))

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


@pytest.fixture
def late_pages() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), LatePages) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_page_that_a_click_asks_for_is_looked_at_when_it_is_there(late_pages: str, open_window: OpenWindow):
    # given: a page without a fault, with a link to a late page that has the same heading and two faults
    page = open_window()
    page.goto(f"{late_pages}/")
    assert faults_of(page) == []

    # when
    page.click("a")
    faults = faults_of(page)

    # then: the faults are those of the late page
    assert [fault.split(" at ")[0] for fault in sorted(faults)] == [
        f"{late_pages}/late/: color-contrast",
        f"{late_pages}/late/: image-alt",
    ]
