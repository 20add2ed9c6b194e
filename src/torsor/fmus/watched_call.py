"""Calls that may never end: they run in a thread of their own, and a run does not wait for ever.

Code of an FMU cannot be interrupted. Where a call takes longer than is allowed, its thread is left alone and the run ends.
"""

import queue
import threading
from collections.abc import Callable
from typing import Any

from .fmi_calls import FATAL, FmuFailure


class Caller:
    """A thread that makes calls, one after the other."""

    def __init__(self, owner: str, patience: float):
        self.owner, self.patience = owner, patience
        self.requests: Any = queue.SimpleQueue()
        self.answers: Any = queue.SimpleQueue()
        self.stuck = False
        threading.Thread(target=_serve, args=(self.requests, self.answers), daemon=True).start()

    def __call__(self, function: Callable[..., Any], *given: Any) -> Any:
        """What the function returns, or raises; a failure where that takes too long."""
        if self.stuck:
            raise FmuFailure(f"{self.owner}: the FMU cannot be used after a call that did not end", FATAL)
        self.requests.put((function, given))
        try:
            found, error = self.answers.get(timeout=self.patience)
        except queue.Empty:
            self.stuck = True
            raise FmuFailure(
                f"{self.owner}: a call into the FMU did not end within {self.patience:g} s (`timeout`)", FATAL
            ) from None
        if error is not None:
            raise error
        return found

    def close(self) -> None:
        self.requests.put(None)

    def __del__(self):
        self.close()


def _serve(requests, answers):
    while (request := requests.get()) is not None:
        function, given = request
        try:
            answers.put((function(*given), None))
        except BaseException as error:  # whatever a call raises belongs to the caller
            answers.put((None, error))
        del request, function, given  # an instance is freed when nobody needs it
