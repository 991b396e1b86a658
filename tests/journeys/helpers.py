"""Windows of the browser: signing in, and the faults of a shown page."""

from collections.abc import Callable, Sequence
from pathlib import Path
from weakref import WeakKeyDictionary, WeakSet

from django.conf import settings
from django.test import Client
from playwright.sync_api import BrowserContext, Page, expect

from staff.models import User
from tests.tills.helpers import PIN

DESKTOP, PHONE, SMALL_PHONE = (1280, 800), (390, 844), (360, 740)
AXE = Path(settings.NODE_MODULES) / "axe-core/axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
LOOKS = [(PHONE, "dark"), (DESKTOP, "light")]

# The parts of a page, as HTML with all that decides their look: the content of `main`, and the frame around it.
PARTS = """() => {
    const main = document.querySelector("main");
    let look = ["print", "(prefers-color-scheme: dark)"].map(media => matchMedia(media).matches).join();
    window.parts = [...(main?.children ?? [])];
    for (let node = main; node; node = node.parentElement) {
        look += node.cloneNode().outerHTML;
        if (document.body.contains(node.parentElement))
            window.parts.push(...[...node.parentElement.children].filter(other => other !== node));
    }
    return window.parts.map(part => innerWidth + look + part.outerHTML.replaceAll(/<input[^>]*"hidden"[^>]*>/g, ""));
}"""
LOOK = """async ([rules, known]) => {
    const faultless = new Set(known.map(number => window.parts[number]));
    // For the contrast and the sizes of targets axe lays a grid over the whole page, which takes longer than all rules.
    const walk = document.createTreeWalker;
    document.createTreeWalker = (root, shown) => walk.call(document, root, shown, part =>
        faultless.has(part) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
    try {
        return await axe.run({exclude: [...faultless]}, {runOnly: rules, resultTypes: ["violations"]});
    } finally {
        delete document.createTreeWalker;
    }
}"""
# Tables whose first column is narrower than 4 rem, so that its words stand one below the other.
SQUEEZED = """() => {
    const least = 4 * parseFloat(getComputedStyle(document.documentElement).fontSize);
    const lines = cell => {
        const words = document.createRange();
        words.selectNodeContents(cell);
        let count = 0, bottom = -Infinity;
        for (const piece of words.getClientRects())
            if (piece.top >= bottom - 1) { count += 1; bottom = piece.bottom; }
        return count;
    };
    const isSqueezed = row => {
        const cell = row.cells[0];
        const width = cell?.innerText.trim() ? cell.getBoundingClientRect().width : 0;
        return 0 < width && width < least && lines(cell) > 1;
    };
    return [...document.querySelectorAll("main table")]
        .filter(table => [...table.tBodies].some(body => [...body.rows].some(isSqueezed)))
        .map(table => table.id || table.className || "table");
}"""
# The parts in which axe has found no fault. The same part in the same look has no fault on another page, either.
_faultless: set[int] = set()
_with_axe: WeakSet[BrowserContext] = WeakSet()
_beside: WeakKeyDictionary[BrowserContext, Page] = WeakKeyDictionary()

OpenWindow = Callable[..., Page]


def sign_in(page: Page, address: str, who: str, path: str | None = "/") -> None:
    """Sign in as one of the demo staff without the form, and open this page, if any."""
    client = Client()
    client.force_login(User.objects.get(username=who))
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": address}])
    if path is not None:
        page.goto(f"{address}{path}")


def faults_of(page: Page) -> list[str]:
    """The faults that axe finds on the present page, and whether it scrolls sideways.

    A click ends when the answer to it begins: the page may have no element yet.
    """
    page.wait_for_load_state()
    load_axe(page)
    parts = [hash(part) for part in page.evaluate(PARTS)]
    known = [number for number, part in enumerate(parts) if part in _faultless]
    result = page.evaluate(LOOK, [RULES, known])
    assert result["passes"], "axe looked at nothing"
    if not result["violations"]:
        _faultless.update(parts)
    faults = [
        f"{page.url}: {fault['id']} at {[node['target'] for node in fault['nodes']]}: {fault['help']}"
        for fault in result["violations"]
    ]
    too_wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return faults + ([f"{page.url}: {too_wide} px too wide"] if too_wide > 0 else [])


def load_axe(page: Page) -> None:
    """Load axe into the present page and into the next pages of its window; the browser compiles it once.

    Other windows do not get it, because it takes half a megabyte each.
    """
    if not page.evaluate("'axe' in window || ('loadAxe' in window && (loadAxe(), true))"):
        script = AXE.read_text()
        if page.context not in _with_axe:
            page.context.add_init_script(f"window.loadAxe = () => {{ {script} }}")
            _with_axe.add(page.context)
        page.evaluate(f"() => {{ {script} }}")


def faults_in(page: Page, looks: Sequence[tuple[tuple[int, int], str]]) -> list[str]:
    """The faults of the page in each of these looks (size and colour scheme); the page keeps the last look."""
    faults = []
    for (width, height), scheme in looks:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        faults += faults_of(page)
    return faults


def faults_in_all_looks(page: Page) -> list[str]:
    """The faults in both sizes and colour schemes, in the page's language: for a page that a reload would change."""
    return faults_in(page, LOOKS)


def faults_in_both_languages(page: Page, phone: tuple[int, int] = SMALL_PHONE) -> list[str]:
    """The faults of the page as it is shown, and of its address in the other language and colour scheme on a phone.

    The phone is another tab, so that the page keeps its filled fields and open parts. The page must look as its address
    shows it when it is opened again.
    """
    beside = _beside.get(page.context) or _open_beside(page, phone)
    faults = faults_of(page)
    beside.goto(page.url)
    assert beside.evaluate("document.documentElement.lang") == _other_language_than_of(page)
    faults += faults_of(beside)
    return faults + [f"{page.url}: the first column of {table} is squeezed" for table in beside.evaluate(SQUEEZED)]


def _open_beside(page: Page, phone: tuple[int, int]) -> Page:
    beside = page.context.new_page()
    is_dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    agent = {"userAgent": page.evaluate("navigator.userAgent"), "acceptLanguage": _other_language_than_of(page)}
    page.context.new_cdp_session(beside).send("Emulation.setUserAgentOverride", agent)
    beside.set_viewport_size({"width": phone[0], "height": phone[1]})
    beside.emulate_media(color_scheme="light" if is_dark else "dark", reduced_motion="reduce")
    _beside[page.context] = beside
    return beside


def _other_language_than_of(page: Page) -> str:
    return {"id": "en", "en": "id"}[page.evaluate("document.documentElement.lang")]


def forget_session(page: Page) -> None:
    """Take the session away from a browser whose page is closed.

    An open page goes on asking, and would follow the redirect to the sign-in, which would cut off the next `goto`.
    """
    page.goto("about:blank")
    page.context.clear_cookies()


def take_over(page: Page, name: str) -> None:
    tile = page.locator(".name-tile", has_text=name)
    tile.wait_for()
    page.wait_for_load_state()  # before this, no script reads the PIN
    tile.click()
    page.locator("#id_pin").type(PIN)
    expect(page.locator("#pin-session strong")).to_contain_text(name)


def with_authenticator(page: Page) -> None:
    """Give the browser a store of passkeys in memory."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def see_what_is_new(page: Page) -> None:
    """Without a script: read the counter's strip again as long as it offers that."""
    while page.locator("#strip-again").count():
        page.click("#strip-again")
