"""One trace id is in a request's log lines, tasks and calls."""

import threading

import pytest
from celery.contrib.testing.worker import start_worker
from structlog.contextvars import get_contextvars, merge_contextvars
from structlog.testing import capture_logs

from backoffice.celery import app
from core.tracing import begin_trace, end_trace, traceparent
from testing.sandbox_process import eventually

CALLER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture(autouse=True)
def _no_trace_before_or_after():
    end_trace()
    yield
    end_trace()


@pytest.mark.django_db
def test_a_callers_trace_goes_on_in_every_line_of_the_request(client):
    with capture_logs(processors=[merge_contextvars]) as lines:
        answer = client.get("/healthz/nowhere", headers={"traceparent": CALLER})

    version, trace_id, span_id, flags = answer["traceparent"].split("-")
    assert (version, trace_id, flags) == ("00", TRACE_ID, "01")
    assert span_id != "00f067aa0ba902b7"
    assert [line["event"] for line in lines] == ["request_started", "request_finished"]
    assert {line.get("trace_id") for line in lines} == {TRACE_ID}


def test_a_trace_that_makes_no_sense_is_begun_again():
    assert traceparent() is None
    wrong = (None, "", "nonsense", CALLER.upper(), CALLER + "-x", f"00-{'0' * 32}-00f067aa0ba902b7-01")
    for header in (*wrong, CALLER.replace("00-", "ff-", 1)):
        begin_trace(header)

        trace_id = get_contextvars()["trace_id"]
        assert len(trace_id) == 32, header
        assert trace_id != TRACE_ID, header
        end_trace()


@pytest.fixture
def worker_thread_ends(monkeypatch):
    """The thread of a worker in this process ends with the test: it would log between the lines of later ones."""
    stop = threading.Event()
    monkeypatch.setattr("backoffice.tasks._stop", stop)
    yield
    stop.set()
    [watching] = [thread for thread in threading.enumerate() if thread.name == "late-alerts"]
    watching.join(20)
    assert not watching.is_alive()


@pytest.mark.usefixtures("worker_thread_ends")
def test_a_task_goes_on_with_the_trace_of_its_message(monkeypatch):
    # the worker is in this process, which else would run all later tests under the queue's last task
    monkeypatch.setattr("backoffice.celery.step_back", lambda: None)
    seen = []

    @app.task(name="tests.seen", queue="background")
    def look():
        seen.append(get_contextvars().get("trace_id"))

    with start_worker(app, perform_ping_check=False, shutdown_timeout=30, queues=["background"]):
        begin_trace(CALLER)
        look.delay()
        end_trace()
        look.delay()
        eventually(lambda: len(seen) == 2, within=30)

    assert seen[0] == TRACE_ID
    assert seen[1] not in {None, TRACE_ID}
