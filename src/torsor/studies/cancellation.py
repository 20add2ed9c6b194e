"""Cancellation of a study: how workers learn that it ends before all runs are done.

Threads of this process share a flag. Other processes on this machine check for a file, which exists until the last of them has
finished. Workers on other machines do not see this file: they finish the portion that they have begun.
"""

import os
import tempfile
import threading
import uuid
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class StopFile:
    """The file, as it is sent to other processes. A call returns True if they must stop."""

    path: str

    def __call__(self):
        return os.path.exists(self.path)


class Stop:
    """The flag of a study in this process. A call returns True if the study must end."""

    def __init__(self):
        self.flag = threading.Event()
        self.file = StopFile(os.path.join(tempfile.gettempdir(), f"torsor-study-{uuid.uuid4().hex}"))

    def __call__(self):
        return self.flag.is_set()

    def set(self, pending):
        """End the study; pending: futures of portions that may still be running."""
        self.flag.set()
        unfinished = {future for future in pending if not future.done()}
        if unfinished:
            with suppress(OSError), open(self.file.path, "w"):
                pass
        for future in tuple(unfinished):
            future.add_done_callback(lambda future: self._remove_file(future, unfinished))

    def _remove_file(self, future, unfinished):
        """Remove the file when the last future is done."""
        unfinished.discard(future)
        if not unfinished:
            with suppress(OSError):
                os.remove(self.file.path)
