"""Questions to a disk that may not answer, such as one of the network: the thread that asks must go on."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


class SlowDisk:
    """When it does not answer, it costs one caller `patience` seconds, and the next ones nothing until it answers."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._asking: list[threading.Thread] = []  # the threads that still wait for an answer

    def ask(self, question: Callable[[], T]) -> T:
        """The answer to a question that reads or writes there. Raises its fault, and TimeoutError without an answer.

        The question goes on in its thread: what it writes may come later.
        """
        if any(thread.is_alive() for thread in self._asking):
            raise TimeoutError
        self._asking.clear()
        answer: Future[T] = Future()

        def run() -> None:
            try:
                answer.set_result(question())
            except Exception as fault:  # raised again where the answer is read
                answer.set_exception(fault)

        thread = threading.Thread(target=run, name="slow-disk", daemon=True)
        thread.start()
        try:
            return answer.result(self._patience)
        except TimeoutError:
            self._asking.append(thread)
            raise
