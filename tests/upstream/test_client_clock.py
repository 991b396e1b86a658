"""The clock is set while a call is under way: the answer is good, its interval is right in length, and it says so."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.upstream.scripted_upstream import ScriptedUpstream
from upstream import client as client_module
from upstream.client import Client


class SetDuringTheCall(datetime):
    """A wall clock that is set by `step` after it was first looked at."""

    step = timedelta()
    looks = 0

    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        cls.looks += 1
        return datetime.now(tz) + (timedelta() if cls.looks == 1 else cls.step)


@pytest.mark.parametrize("seconds", [-3600.0, -2.0, 2.0, 3600.0])
def test_an_answer_never_ends_before_it_began_and_tells_that_the_clock_was_set(
    upstream: ScriptedUpstream, client: Client, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    upstream.answers(200, {"code": 200, "status": "success", "message": "", "data": {"balance": 5}})
    clock = type("Clock", (SetDuringTheCall,), {"step": timedelta(seconds=seconds), "looks": 0})
    monkeypatch.setattr(client_module, "datetime", clock)

    answer = client.balance()

    assert timedelta() < answer.received_at - answer.sent_at < timedelta(seconds=client.config.read_timeout)
    assert answer.clock_was_set
    assert answer.data.balance == 5
