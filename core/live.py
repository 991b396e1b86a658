"""Pages that keep themselves fresh: a hidden element asks again with the page's state; only news comes back."""

from collections.abc import Collection, Mapping
from urllib.parse import urlencode

from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.safestring import SafeString

from core.keys import typed_keys

# For this long (seconds) after `expect_news` a page asks every two seconds.
_EXPECTED_SECONDS = 20
_QUIET_MOST = 99
# A page of a list shows at most this many rows.
_MOST_ROWS = 50


def is_poll(request: HttpRequest) -> bool:
    """Whether an open page asks by itself, perhaps with nobody there.

    The addresses of such polls end alike. A part whose address people ask for, too, sends the header `By-Itself`.
    With the header `Acted` somebody has pressed a key or a button on the page since its last request.
    """
    is_by_itself = request.path_info.endswith(("/live/", "/now/")) or "By-Itself" in request.headers
    return is_by_itself and "HX-Request" in request.headers and "Acted" not in request.headers


class Live:
    """A page's parts, and when it asks `url` for news (`components/live.html`).

    `parts`: the id of each part on the page → the values that decide its look. `over`: the parts that will not change
    again. `rest`: seconds between two questions when all are over; None: no further question. `within`: ask in so
    many seconds at the latest.
    """

    def __init__(
        self,
        request: HttpRequest,
        url: str,
        parts: Mapping[str, object],
        *,
        over: Collection[str] = (),
        rest: int | None = None,
        within: int | None = None,
    ) -> None:
        self.is_answer = "seen" in request.GET
        shown = {part: _version(what) for part, what in parts.items()}
        seen = _seen(request)
        #: Names of the parts that are not as the page shows them.
        self.news = {part for part, version in shown.items() if seen.get(part) != version}
        quiet = _number(request.GET.get("quiet", "")) + 1 if self.is_answer and not self.news else 0
        moving = [part for part in shown if part not in over]
        watched = shown if rest else {part: shown[part] for part in moving}
        is_expected = request.session.get("news_until", 0) > timezone.now().timestamp()
        pause = 2 if is_expected else _pause(quiet) if moving else rest
        #: Seconds until the page asks, None when it does not; and the address that it asks.
        self.delay = min(pause, within or pause) if pause and watched else None
        names = ",".join(f"{part}~{version}" for part, version in watched.items())
        joint = "&" if "?" in url else "?"
        self.ask = f"{url}{joint}{urlencode({'seen': names, 'quiet': min(quiet, _QUIET_MOST)})}"

    @property
    def swap(self) -> SafeString:
        """An attribute for the tag of a part: in an answer, the part then replaces the one that the page shows."""
        return SafeString(' hx-swap-oob="true"' if self.is_answer else "")


def seen_keys(request: HttpRequest) -> list[int]:
    """The keys of the rows (parts called "row-KEY") that the asking page shows."""
    keys = [part.removeprefix("row-") for part in _seen(request) if part.startswith("row-")]
    return typed_keys(keys[:_MOST_ROWS])


def expect_news(request: HttpRequest) -> None:
    """Have live pages ask every two seconds for a short time, because a person has asked for something."""
    request.session["news_until"] = timezone.now().timestamp() + _EXPECTED_SECONDS


def _pause(quiet: int) -> int:
    """Seconds until the next question after `quiet` questions without news: 2, later 4, 7, and 10 after two minutes."""
    return 2 if quiet < 10 else 4 if quiet < 20 else 7 if quiet < 30 else 10


def _version(what: object) -> str:
    # Keyed: the fingerprint of an amount would otherwise be found by trying amounts.
    return salted_hmac("core.live", repr(what), algorithm="sha256").hexdigest()[:8]


def _seen(request: HttpRequest) -> dict[str, str]:
    return dict(pair.partition("~")[::2] for pair in request.GET.get("seen", "").split(","))


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 4 else 0
