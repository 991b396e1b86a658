"""One sandbox process per test worker, ten times as fast as usual, fresh for each test; and a merchant's address."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest

from tests.callback_receiver import CallbackReceiver
from tests.sandbox_process import SandboxProcess

_numbers = count(1)


@pytest.fixture(scope="session")
def sandbox_process() -> Iterator[SandboxProcess]:
    process = SandboxProcess.fresh("conformance", SANDBOX_SPEED="10", SANDBOX_CALLBACK_SCHEDULE="0.3,0.6")
    yield process
    process.remove()


@pytest.fixture
def sandbox(sandbox_process: SandboxProcess) -> SandboxProcess:
    """The running sandbox, with everything that earlier tests did forgotten."""
    sandbox_process.control("reset")
    sandbox_process.control("account", callback_url="")
    return sandbox_process


@pytest.fixture
def merchant(sandbox: SandboxProcess) -> Iterator[CallbackReceiver]:
    """A merchant's callback address, registered with the sandbox."""
    receiver = CallbackReceiver()
    sandbox.control("account", callback_url=receiver.url)
    yield receiver
    receiver.close()


@pytest.fixture
def ref() -> Callable[[], str]:
    """Makes a ref_id that no other test uses."""
    return lambda: f"T{next(_numbers):05d}"
