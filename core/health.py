"""Is the process up (`/healthz`); is everything there that staff need (`/readyz`)?"""

from collections.abc import Callable
from functools import cache
from typing import cast

import redis
import structlog
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache

log = structlog.get_logger()

# A process without a heartbeat for this long (seconds) is missing.
SILENCE_SECONDS = 15
# After a start each has this long (seconds) to give its first one.
START_SECONDS = 40
PROCESSES = ("worker", "background", "beat")


@cache
def _redis() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=settings.REDIS_SOCKET_TIMEOUT,
        socket_connect_timeout=settings.REDIS_CONNECT_TIMEOUT,
    )


def record_heartbeat(name: str) -> None:
    """Remember that process `name` (worker, background, beat) lives now; it is forgotten after `SILENCE_SECONDS`."""
    try:
        _redis().set(f"alive:{name}", "1", ex=SILENCE_SECONDS)
    except redis.RedisError as error:
        log.warning("sign_of_life_not_noted", process=name, fault=type(error).__name__)


def record_start() -> None:
    """Remember that the processes are being started: for `START_SECONDS` nobody is called silent."""
    try:
        _redis().set("starting", "1", ex=START_SECONDS)
    except redis.RedisError as error:
        log.warning("start_not_noted", fault=type(error).__name__)


class HealthMiddleware:
    """Answers the two health addresses before anything else looks at the request.

    They have to answer with the database down, whatever cookie and host name the probe sends.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self._answers = {"/healthz": healthz, "/readyz": readyz}

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The health answer, or whatever the rest of the app says."""
        return self._answers.get(request.path, self.get_response)(request)


@never_cache
def healthz(request: HttpRequest) -> HttpResponse:  # noqa: ARG001
    """The web process is up; nothing else is asked."""
    return HttpResponse("ok\n", content_type="text/plain")


@never_cache
def readyz(request: HttpRequest) -> JsonResponse:  # noqa: ARG001
    """Database, Redis, both workers and beat: 200 when all are there, else 503 naming what is missing."""
    known = _redis_knows()
    del known["starting"]
    found = {"database": _database_answers(), **known}
    missing = [name for name, there in found.items() if not there]
    return JsonResponse({"ready": not missing, "missing": missing, **found}, status=503 if missing else 200)


def silent_processes() -> list[str]:
    """Which of our processes have no heartbeat; only "redis" when that, who would know, is away."""
    known = _redis_knows()
    if not known["redis"]:
        return ["redis"]
    return [] if known["starting"] else [name for name in PROCESSES if not known[name]]


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _redis_knows() -> dict[str, bool]:
    """Whether Redis answers, which processes have a heartbeat, and whether they are only being started.

    One question, for a frozen Redis is slow.
    """
    names = (*PROCESSES, "starting")
    try:
        signs = cast("list[bytes | None]", _redis().mget([*(f"alive:{name}" for name in PROCESSES), "starting"]))
    except redis.RedisError:
        return dict.fromkeys(("redis", *names), False)
    return {"redis": True, **{name: sign is not None for name, sign in zip(names, signs, strict=True)}}
