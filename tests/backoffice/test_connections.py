"""A worker's thread keeps its connection to PostgreSQL; if PostgreSQL has closed it, no task fails."""

import pytest
from celery.fixups.django import DjangoWorkerFixup
from django.db import connection

from alerts.tasks import evaluate_alerts
from backoffice.celery import app

pytestmark = pytest.mark.django_db(transaction=True)


def backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def end_backend(pid: int) -> None:
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    finally:
        other.close()


def test_a_thread_keeps_its_connection_from_task_to_task():
    connection.close()  # the tests' connection may be older than CONN_MAX_AGE
    before = backend()

    evaluate_alerts.apply()
    DjangoWorkerFixup(app).close_database()  # as Celery does around each task
    evaluate_alerts.apply()

    assert backend() == before


def test_a_connection_that_was_closed_fails_no_task():
    before = backend()
    end_backend(before)

    ended = evaluate_alerts.apply()

    assert (ended.state, ended.result) == ("SUCCESS", None)
    assert backend() != before


def test_a_new_connection_needs_no_statement_to_set_its_time_zone():
    connection.close()
    connection.connect()

    assert connection.connection.info.parameter_status("TimeZone") == "UTC"
    assert not connection.ensure_timezone()
