"""One sandbox process per test worker, twenty times as fast as usual, empty for each test; and a merchant's address."""

import pytest

from tests.callback_receiver import CallbackReceiver
from tests.sandbox.calls import Sandbox


@pytest.fixture(scope="session")
def sandbox_process():
    process = Sandbox.fresh("conformance", SANDBOX_SPEED="20", SANDBOX_CALLBACK_SCHEDULE="0.3,0.6")
    yield process
    process.remove()


@pytest.fixture
def sandbox(sandbox_process):
    """The running sandbox in its first state. A test may end it: it runs again for the next test."""
    if sandbox_process.process is None:
        sandbox_process.restart()
    sandbox_process.control("reset")
    sandbox_process.control("account", callback_url="")
    return sandbox_process


@pytest.fixture
def merchant(sandbox):
    """A merchant's callback address, registered with the sandbox."""
    receiver = CallbackReceiver()
    sandbox.control("account", callback_url=receiver.url)
    yield receiver
    receiver.close()
