"""The connection to PostgreSQL that a thread keeps from one request or task to the next."""

import select

from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse

from core.middleware import Middleware

# SQLSTATE classes of a server that is away, starts, stops or has no room; without one there was no connection.
_AWAY = ("08", "53", "57P")


def is_away(error: BaseException | None) -> bool:
    """Whether the error says that the database cannot be reached now, or accepts no connection."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    state = getattr(error.__cause__, "sqlstate", None)
    return state is None or state.startswith(_AWAY)


def trust_quiet_connection() -> None:
    """Count the kept connection as open when nothing has come over it; call it as a request or a task begins.

    Otherwise Django asks the server with a statement each time. A server that ends a connection announces it.
    """
    kept = connection.connection
    if kept is not None and not kept.closed:
        poll = select.poll()
        poll.register(kept.fileno(), select.POLLIN)
        connection.health_check_done = not poll.poll(0)  # type: ignore[attr-defined]  # the stubs leave it out


class ConnectionMiddleware(Middleware):
    """Spares each request the statement with which Django checks its connection."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        trust_quiet_connection()
        return self.get_response(request)
