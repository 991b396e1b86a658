"""Makes the pictures of docs/pictures again: `./run screenshots`.

It starts its own demo (sandbox, data in a temporary folder), sells there as a cashier with the system's Chromium, once
in each language, and takes a picture of each page. `--address` uses a running demo instead.
Exit code 1, with one sentence, when there is no Chromium or the demo does not start.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from testing.browser import find_browser

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
PORT, START_SECONDS = 8790, 480
DESKTOP, PHONE = (1120, 720), (390, 780)
# Language of the pages → language of the browser, and a number to which nothing was sold yet.
LANGUAGES = {"id": ("id-ID", "081234567801"), "en": ("en-GB", "081234567802")}


def main() -> int:
    """Make all pictures; returns the exit code."""
    parser = argparse.ArgumentParser(prog="./run screenshots")
    parser.add_argument("--address", default="", help="of a demo that runs, for example http://localhost:8000")
    options = parser.parse_args()
    browser = find_browser()
    if browser is None:
        print(
            "The pictures need Chromium, and none was found: install the system's package `chromium`.", file=sys.stderr
        )
        return 1
    try:
        import playwright.sync_api  # noqa: F401, PLC0415 - a package of the development lock
    except ImportError:
        print("The pictures need playwright: `./run screenshots` installs it.", file=sys.stderr)
        return 1
    if options.address:
        photograph(options.address.rstrip("/"), browser)
        return 0
    with tempfile.TemporaryDirectory() as folder, demo(Path(folder)) as address:
        if not address:
            print("The demo did not start: try ./run, and read what it says.", file=sys.stderr)
            return 1
        photograph(address, browser)
    return 0


@contextmanager
def demo(folder: Path) -> Iterator[str]:
    """Run a demo; its address, or "" when it does not start."""
    environment = {**os.environ, "BACKOFFICE_DATA": str(folder)}
    process = subprocess.Popen([str(ROOT / "run"), "--port", str(PORT)], env=environment, stdout=subprocess.DEVNULL)
    address = f"http://localhost:{PORT}"
    try:
        yield address if is_ready(address, process) else ""
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def is_ready(address: str, process: subprocess.Popen[bytes]) -> bool:
    """Wait until the demo serves pages; False when it ended or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{address}/readyz", timeout=5):  # noqa: S310 - our own loopback
                return True
        except OSError:
            time.sleep(1)
    return False


def photograph(address: str, executable: str) -> None:
    """Sell as a cashier in each language, open the owner's pages, and save a picture of each step."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - see above

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox", "--disable-gpu"])
        for language, (locale, number) in LANGUAGES.items():
            folder = PICTURES / language
            folder.mkdir(parents=True, exist_ok=True)

            def sign_in(name: str, locale: str = locale) -> Any:
                context = browser.new_context(
                    viewport={"width": DESKTOP[0], "height": DESKTOP[1]}, locale=locale, reduced_motion="reduce"
                )
                page = context.new_page()
                page.set_default_timeout(60_000)
                page.goto(address)
                page.fill("[name=login]", name)
                page.fill("[name=password]", f"{name}-demo")
                page.keyboard.press("Enter")
                page.wait_for_url(f"{address}/")
                if page.locator("#tips").count():
                    page.click("#tips button")
                    page.wait_for_selector("#tips", state="detached")
                return page

            order = sell(sign_in("cashier"), address, number, folder)
            look(sign_in("owner"), address, order, folder)
        browser.close()


def keep(page: Any, folder: Path, name: str) -> None:
    """Save a picture of the page."""
    page.screenshot(path=str(folder / f"{name}.png"), animations="disabled")
    print(folder / f"{name}.png")


def sell(page: Any, address: str, number: str, folder: Path) -> str:
    """One sale of a cashier from the drawer to the order's page; returns the path of the order."""
    page.goto(f"{address}/drawer/")
    if page.locator("#open-drawer").count():
        page.fill("[name=pieces_50000]", "2")
        page.fill("[name=pieces_10000]", "10")
        page.fill("[name=reason]", "Modal awal")  # the page asks for it when the last shift left another amount
        page.click("#open-drawer button[type=submit]")
        page.wait_for_selector("#expected-now")
    page.goto(f"{address}/counter/")
    page.keyboard.type(f"{number} 10")
    page.wait_for_selector("#counter-tiles [aria-selected=true]")
    keep(page, folder, "counter")
    page.keyboard.press("Enter")
    page.wait_for_selector("#counter-review")
    page.wait_for_timeout(800)  # for a moment after the review appears, the page ignores Enter
    keep(page, folder, "review")
    page.keyboard.press("Enter")
    newest = "#counter-strip .run:first-child[data-status=success] .run-what"  # not the sale in the other language
    page.locator("#counter-strip .run:first-child", has_text=number[-4:]).wait_for()
    page.wait_for_selector(newest)
    order = str(page.get_attribute(newest, "href"))
    page.goto(f"{address}{order}")
    page.wait_for_selector("#serial")
    keep(page, folder, "order")
    page.goto(f"{address}/")
    page.wait_for_selector("#own-latest")
    keep(page, folder, "overview")
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.goto(f"{address}/counter/")
    page.keyboard.type(f"{number} ")
    page.wait_for_selector("#counter-tiles [data-product]")
    keep(page, folder, "phone")
    return order


def look(page: Any, address: str, order: str, folder: Path) -> None:
    """Save pictures of the owner's pages, and of everything about that order."""
    yesterday = datetime.now(ZoneInfo("Asia/Jakarta")).date() - timedelta(days=1)
    pages = {
        "owner": "/",
        "day": f"/shifts/days/{yesterday}/",
        "prices": "/products/prices/rule/?target=category%3A1&kind=plus&value=2.500&round_to=500",
        "story": f"{order}story/",
    }
    for name, path in pages.items():
        page.goto(f"{address}{path}")
        page.wait_for_load_state("networkidle")
        if name in {"prices", "story"}:
            page.locator("#main .panel").last.evaluate("panel => { panel.scrollIntoView(); scrollBy(0, -80) }")
        keep(page, folder, name)


if __name__ == "__main__":
    sys.exit(main())
