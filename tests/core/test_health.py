"""/healthz says that the process is up; /readyz names the missing parts."""

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.test import Client

from core import health, heartbeats, stores


@pytest.fixture(autouse=True)
def _silence():
    stores.patient().delete("heartbeats", "starting")
    heartbeats._recorded.clear()


def give(*names: str, place: str = "", seconds_ago: int = 0) -> None:
    """Give a heartbeat of each of these processes."""
    for name in names:
        heartbeats.record(name)
    if place or seconds_ago:
        redis = stores.patient()
        for field, value in redis.hgetall("heartbeats").items():
            at, free = value.split()
            redis.hdel("heartbeats", field)
            name, _, here = field.decode().partition("@")
            redis.hset("heartbeats", f"{name}@{place or here}", f"{int(at) - seconds_ago} {int(free)}")
        heartbeats._recorded.clear()


def test_healthz_asks_nothing_and_names_the_version(django_assert_num_queries, db):
    with django_assert_num_queries(0):
        assert Client().get("/healthz").content.decode() == f"ok {settings.VERSION}\n"


@pytest.mark.django_db
def test_readyz_names_each_role_without_a_heartbeat_on_any_machine():
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["missing"] == ["worker", "background", "beat"]

    give("worker", "worker-2", "background", place="another-machine")
    give("worker", "beat", "web")
    answer = Client().get("/readyz")
    assert (answer.status_code, answer.json()["missing"]) == (200, [])
    assert answer.json()["processes"] == {"worker": 3, "background": 1, "beat": 1, "web": 1}

    # a process that ended in order is gone at once
    heartbeats.end("beat")
    assert health.silent_processes() == ["beat"]


def test_a_heartbeat_of_too_long_ago_is_none():
    give("worker", "background", "beat", seconds_ago=heartbeats.SILENCE_SECONDS)

    assert health.silent_processes() == ["worker", "background", "beat"]


def test_a_machine_that_left_is_forgotten():
    give("worker", place="gone", seconds_ago=heartbeats.FORGOTTEN_SECONDS + 1)

    assert heartbeats.read().beats == []
    assert stores.patient().hlen("heartbeats") == 0


@pytest.mark.django_db
def test_a_starting_process_is_not_ready_and_not_silent():
    heartbeats.record_start()

    assert health.silent_processes() == []
    assert Client().get("/readyz").json() == {
        "ready": False,
        "missing": ["worker", "background", "beat"],
        "database": True,
        "redis": True,
        "worker": False,
        "background": False,
        "beat": False,
        "processes": {},
    }


@pytest.mark.django_db
def test_readyz_names_a_redis_that_is_away(settings):
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    stores.patient.cache_clear()
    try:
        answer = Client().get("/readyz")
    finally:
        stores.patient.cache_clear()

    assert answer.status_code == 503
    assert "redis" in answer.json()["missing"]
    assert "database" not in answer.json()["missing"]


def test_health_answers_without_database_for_any_cookie_and_host(monkeypatch):
    monkeypatch.setattr(connection, "cursor", _no_database)
    client = Client(HTTP_HOST="10.0.0.1")
    client.cookies["sessionid"] = "somebody-who-is-signed-in"

    assert client.get("/healthz").status_code == 200
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "database" in answer.json()["missing"]


def _no_database(*args, **kwargs):
    raise OperationalError("no database")


@pytest.mark.django_db
def test_whoever_asks_from_elsewhere_learns_no_details():
    for sender in (
        {"REMOTE_ADDR": "203.0.113.5"},
        {"HTTP_X_FORWARDED_FOR": "127.0.0.1"},
        {"HTTP_X_FORWARDED_PROTO": "https"},
        {"HTTP_X_REAL_IP": "127.0.0.1"},
        {"HTTP_VIA": "1.1 proxy"},
    ):
        answer = Client().get("/readyz", HTTP_HOST="any.example", **sender)

        assert (answer.status_code, answer.json()) == (503, {"ready": False}), sender


@pytest.mark.django_db
def test_behind_a_proxy_that_sends_no_header_nobody_learns_details(settings):
    settings.TRUSTED_PROXY_COUNT = 1

    for page, status in (("/readyz", 503), ("/metrics", 403)):
        answer = Client().get(page)

        assert answer.status_code == status
        assert b"TRUSTED_PROXY_COUNT" in answer.content  # why
        assert b"worker" not in answer.content
