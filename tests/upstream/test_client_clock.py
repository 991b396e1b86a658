"""If the clock is set during a call, the answer is good, and its interval has the right length."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.upstream.helpers import success
from tests.upstream.scripted_upstream import ScriptedUpstream
from upstream import client as client_module, requests
from upstream.client import Client


class SetDuringTheCall(datetime):
    """A wall clock that changes by `step` after its first reading."""

    step = timedelta()
    looks = 0

    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        cls.looks += 1
        return datetime.now(tz) + (timedelta() if cls.looks == 1 else cls.step)


def test_when_the_clock_is_set_a_reply_stays_in_order(
    upstream: ScriptedUpstream, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream.answers(200, success({"balance": 5}))
    for seconds in (-3600.0, -2.0, 2.0, 3600.0):
        clock = type("Clock", (SetDuringTheCall,), {"step": timedelta(seconds=seconds), "looks": 0})
        monkeypatch.setattr(client_module, "datetime", clock)

        answer = client.send(requests.balance())

        took = answer.received_at - answer.sent_at
        assert timedelta() < took < timedelta(seconds=client.config.read_timeout), seconds
        assert answer.data.balance == 5
