"""Sessions as Django stores them in the database, each with its person, so that they can be listed and ended."""

from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.http import HttpRequest
from django.utils import timezone

from core import clock
from core.bulk import read_rows
from policies.services import policies
from staff.models import Session

# A session's facts in addition to Django's: its beginning (seconds since 1970), and the browser's name for itself.
BEGAN, DEVICE = "began", "device"
SEEN = "seen"  # the time of the person's last act, to the minute
ISSUER = "issuer"  # the provider through which the person came; absent after any other sign-in
_CAME_THROUGH = "_came_through"
_SEEN_EVERY = 60
_FRESH = 600
_LONGEST_DEVICE = 300
_VALID = "WHERE session_key = %s AND expire_date > %s"


class SessionStore(DatabaseStore):
    """Django's store with our table. It needs no additional query."""

    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def _validate_session_key(self, key: str | None) -> bool:
        """Whether it can be a key of ours; PostgreSQL refuses a NUL, which a quoted cookie can hold."""
        return super()._validate_session_key(key) and str(key).isalnum()  # type: ignore[misc] # django-stubs lack it

    def load(self) -> dict[str, Any]:
        """The session's data, as Django reads it, but by plain SQL, because every request reads it."""
        rows = read_rows(Session, _VALID, [self.session_key, timezone.now()])
        if not rows:
            self._session_key = None
            return {}
        held: dict[str, Any] = self.decode(rows[0].session_data)
        return held

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        """The row, with the signed-in person."""
        if SESSION_KEY in data:
            data.setdefault(SEEN, clock.now().timestamp())
        row = super().create_model_instance(data)
        assert isinstance(row, Session)  # noqa: S101 - what get_model_class says
        row.person_id = data.get(SESSION_KEY)
        return row


def note_provider(request: HttpRequest, issuer: str) -> None:
    """Note that this request signs in through the provider with this issuer; "" for none."""
    setattr(request, _CAME_THROUGH, issuer)


def noted_provider(request: HttpRequest) -> str:
    """The issuer that `note_provider` noted for this request; "" for any other sign-in."""
    issuer: str = getattr(request, _CAME_THROUGH, "")
    return issuer


def note_sign_in(request: HttpRequest) -> None:
    """Note in the session its beginning, its browser, and its provider."""
    request.session.pop(ISSUER, None)
    if issuer := noted_provider(request):
        request.session[ISSUER] = issuer
    request.session[BEGAN] = clock.now().timestamp()
    request.session[DEVICE] = request.headers.get("User-Agent", "")[:_LONGEST_DEVICE]


def note_activity(request: HttpRequest) -> None:
    """Note that the person is active; it is written once a minute at most."""
    now = clock.now().timestamp()
    if now - request.session.get(SEEN, now) > _SEEN_EVERY:
        request.session[SEEN] = now


def is_fresh(request: HttpRequest) -> bool:
    """Whether the session began within the last ten minutes."""
    return bool(clock.now().timestamp() - request.session.get(BEGAN, 0) <= _FRESH)


def is_over(request: HttpRequest) -> bool:
    """Whether the person was idle for `session_idle_minutes`, or the session began too long ago."""
    now = clock.now().timestamp()
    is_idle: bool = now - request.session.get(SEEN, now) > policies().session_idle_minutes * 60
    is_old: bool = now - request.session.get(BEGAN, now) > settings.SESSION_COOKIE_AGE
    return is_idle or is_old


def has_lost_provider(request: HttpRequest) -> bool:
    """Whether the session began through a provider that the settings do not name any more."""
    return bool(request.session.get(ISSUER, settings.OIDC_ISSUER) != settings.OIDC_ISSUER)
