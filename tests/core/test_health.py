"""/healthz says that the process is up; /readyz names what is missing."""

import pytest
from django.db import OperationalError, connection
from django.test import Client

from core import health


@pytest.fixture(autouse=True)
def _silence():
    for name in ("worker", "background", "beat"):
        health._redis().delete(f"alive:{name}")
    health._redis().delete("starting")


def test_healthz_asks_nothing(django_assert_num_queries, db):
    with django_assert_num_queries(0):
        assert Client().get("/healthz").status_code == 200


@pytest.mark.django_db
def test_readyz_names_each_process_without_heartbeat():
    answer = Client().get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["missing"] == ["worker", "background", "beat"]


@pytest.mark.django_db
def test_readyz_is_200_when_all_live():
    for name in ("worker", "background", "beat"):
        health.record_heartbeat(name)

    answer = Client().get("/readyz")

    assert (answer.status_code, answer.json()["missing"]) == (200, [])


@pytest.mark.django_db
def test_a_starting_process_is_not_ready_and_not_silent():
    assert health.silent_processes() == ["worker", "background", "beat"]

    health.record_start()

    assert health.silent_processes() == []
    assert Client().get("/readyz").json() == {
        "ready": False,
        "missing": ["worker", "background", "beat"],
        "database": True,
        "redis": True,
        "worker": False,
        "background": False,
        "beat": False,
    }


@pytest.mark.django_db
def test_readyz_names_a_redis_that_is_away(settings):
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    health._redis.cache_clear()
    try:
        answer = Client().get("/readyz")
    finally:
        health._redis.cache_clear()

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
