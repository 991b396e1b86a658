"""Sessions as Django keeps them in the database, with the person beside each: so they can be listed and ended."""

from __future__ import annotations

from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.http import HttpRequest

from core import clock
from staff.models import Session

# What a session holds beside Django's own: when it began (seconds since 1970), and what the browser calls itself.
BEGAN, DEVICE = "began", "device"
_LONGEST_DEVICE = 300


class SessionStore(DatabaseStore):
    """Django's store; the table is ours. It takes no query more."""

    @classmethod
    def get_model_class(cls) -> type[Session]:
        """The table of the sessions."""
        return Session

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        """The row, with whoever is signed in."""
        row = super().create_model_instance(data)
        assert isinstance(row, Session)  # noqa: S101 - what get_model_class says
        row.person_id = data.get(SESSION_KEY)
        return row


def note_sign_in(request: HttpRequest) -> None:
    """Keep in the session when it began, and in which browser."""
    request.session[BEGAN] = clock.now().timestamp()
    request.session[DEVICE] = request.headers.get("User-Agent", "")[:_LONGEST_DEVICE]
