"""How those who carry out runs hear that a study ends before all of them are done.

Threads of this process share a flag. Other processes of this machine look for a file, which is there until none of them is at
work; on other machines nobody sees it, and a portion that was begun there is finished.
"""

import os
import tempfile
import threading
import uuid
from contextlib import suppress
from dataclasses import dataclass


@dataclass(frozen=True)
class Mark:
    """The file, as it travels to other processes: called, it tells whether they are to stop."""

    path: str

    def __call__(self):
        return os.path.exists(self.path)


class Stop:
    """Whether the study of this process is to end: called, it tells so."""

    def __init__(self):
        self.flag = threading.Event()
        self.mark = Mark(os.path.join(tempfile.gettempdir(), f"torsor-study-{uuid.uuid4().hex}"))

    def __call__(self):
        return self.flag.is_set()

    def set(self, pending):
        """End it; pending: futures of those who may still be at work."""
        self.flag.set()
        left = {future for future in pending if not future.done()}
        if left:
            with suppress(OSError), open(self.mark.path, "w"):
                pass
        for future in tuple(left):
            future.add_done_callback(lambda future: self._over(future, left))

    def _over(self, future, left):
        """Take the file away when the last of them is done."""
        left.discard(future)
        if not left:
            with suppress(OSError):
                os.remove(self.mark.path)
