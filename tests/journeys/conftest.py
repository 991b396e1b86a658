"""A real browser against the real processes."""

import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from staff.roles import create_demo_staff
from testing.browser import find_browser
from testing.fleet import Fleet
from tests.conftest import Upstream
from tests.journeys.helpers import DESKTOP, OpenWindow

# Long enough for a busy machine: usually an answer comes much sooner.
PATIENCE = 60_000  # milliseconds
# The optimizing compilers, and an empty page that Chromium keeps ready behind each window's address bar, would take
# half of a short test's seconds. The simple compiler for all code saves axe a fourth of its time. The other features
# are those of Playwright's list that matter here, because our list replaces it.
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking"),
    "--js-flags=--no-opt,--no-maglev,--always-sparkplug",
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,PaintHolding,HttpsUpgrades,OptimizationHints",
]
# The messages of htmx about a poll that was cut off because the page was left, and the browser's for a cut answer.
CUT_OFF = (
    *("htmx:afterRequest", "htmx:sendError", "htmx:sendAbort"),
    "Failed to load resource: net::ERR_EMPTY_RESPONSE",
)
NO_WORKER = "Service Worker registration blocked by Playwright"


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """The system's Chromium; where one is required (`.ci/run`), its absence is a failure and not a skip."""
    expect.set_options(timeout=PATIENCE)
    path = find_browser()
    if path is None:
        if os.environ.get("BACKOFFICE_REQUIRE_BROWSER") == "1":
            pytest.fail("No Chromium was found, and BACKOFFICE_REQUIRE_BROWSER=1 asks for one.")
        pytest.skip("No Chromium was found on this machine.")
    # Playwright's loop makes Django think that its ORM is called from asynchronous code; it is not.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
            yield browser
            browser.close()


@pytest.fixture
def open_window(chromium: Browser) -> Iterator[OpenWindow]:
    """`open_window(size=…, scheme="dark", …)`: a fresh window; complaints on its console fail the test.

    With `may_complain` they do not: for a test that takes an answer away, of which the browser rightly complains.
    """
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        # The browser reports a page that is rightly a 403, a 404 or a 503 as a failed load.
        if (
            message.type in {"error", "warning"}
            and not re.search("server responded with a status of (40|503)", message.text)
            and not message.text.startswith((*CUT_OFF, NO_WORKER))
        ):
            complaints.append(message.text)

    def open_one(
        size: tuple[int, int] = DESKTOP,
        scheme: str = "light",
        language: str = "en-GB",
        may_complain: bool = False,
        **more: Any,
    ) -> Page:
        context = chromium.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme=scheme,
            locale=language,
            reduced_motion="reduce",
            **{"service_workers": "block", **more},  # each page of each window would start a worker
        )
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        if not may_complain:
            page.on("console", note)
            page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield open_one
    seen = list(complaints)  # closing a window cuts off its polls, of which it complains, too
    for context in contexts:
        context.close()
    assert seen == []


@pytest.fixture(scope="package")
def fleets() -> Iterator[list[Fleet]]:
    """The one fleet of all journeys, started for the first journey that needs it."""
    started: list[Fleet] = []
    yield started
    for fleet in started:
        fleet.kill_all()


@pytest.fixture
def shop(upstream: Upstream, fleets: list[Fleet]) -> Iterator[Fleet]:
    """Web, workers and beat against the sandbox, which sends callbacks; the demo staff can sign in."""
    create_demo_staff()
    if not fleets:
        # A busy machine answers after half a second, too: then the app rightly sends a bill's payment again.
        fleets.append(Fleet("testing.quick_app", UPSTREAM_READ_TIMEOUT="3"))
        fleets[0].start("web", "worker", "background", "beat")
    fleet = fleets[0]
    upstream.control("account", callback_url=f"{fleet.url}/callbacks/upstream/")
    fleet.resume()
    yield fleet
    upstream.control("account", callback_url="")
    fleet.rest()
