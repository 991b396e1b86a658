"""Says whether the process is up (`/healthz`), and whether everything that staff need is there (`/readyz`)."""

from typing import Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache

from core import heartbeats
from core.addresses import is_from_this_machine
from core.middleware import Middleware


class HealthMiddleware(Middleware):
    """Answers the two health addresses before anything else reads the request.

    They must answer while the database is down, and for any cookie and host name of the probe.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The health answer, or the answer of the rest of the app."""
        answers = {"/healthz": healthz, "/readyz": readyz}
        return answers.get(request.path, self.get_response)(request)


@never_cache
def healthz(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """Says that the web process is up, and its version. It checks nothing else."""
    return HttpResponse(f"ok {settings.VERSION}\n", content_type="text/plain")


@never_cache
def readyz(request: HttpRequest) -> JsonResponse:
    """Database, Redis, both workers and beat: 200 when all are there, else 503 naming what is missing.

    `processes`: how many of each role run, on all machines together. A request from elsewhere, or through a proxy,
    learns only whether it is ready.
    """
    pulse = heartbeats.read()
    alive = pulse.alive()
    there = {role: bool(alive.get(role)) for role in heartbeats.ROLES}
    checks = {"database": _database_answers(), "redis": pulse.redis, **there}
    missing = [name for name, is_there in checks.items() if not is_there]
    answer: dict[str, Any] = {"ready": not missing}
    if is_from_this_machine(request):
        answer |= {"missing": missing, **checks, "processes": alive}
    elif settings.TRUSTED_PROXY_COUNT:
        answer["details"] = "hidden from everybody while TRUSTED_PROXY_COUNT is set; ./run status shows them"
    return JsonResponse(answer, status=503 if missing else 200)


def silent_processes() -> list[str]:
    """The roles without a process that has a heartbeat; only "redis" when Redis, which keeps them, is away."""
    return heartbeats.read().silent()


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True
