"""A progress display for work that takes longer than a second: a status while compiling, a bar while running.

It writes to standard error, and stays silent where that is no terminal, unless `shown` forces it.
"""

import sys
import threading
import time as clock
from typing import Any

import numpy as np

from ..elements import quantity
from ..errors import OptionError

PATIENCE = 1.0  # seconds that pass before anything is shown


class Progress:
    """Called with the simulated time and the counts of a run, which `words` formats. `waiting` announces work whose end is not
    known."""

    def __init__(self, start, until, title, shown=None, words=None):
        if shown is not None and not isinstance(shown, (bool, np.bool_)):
            raise OptionError(f"progress must be True, False or None, got {quantity.show(shown)}")
        self.start, self.until, self.title = start, until, title
        self.words = words or (lambda t, counts: f"t = {t:.4g} s, {int(counts[0])} steps")
        self.shown = sys.stderr.isatty() if shown is None else bool(shown)
        self.forced = bool(shown)
        self.began = clock.perf_counter()
        self.bar: Any = None
        self.task: Any = None
        self.status: Any = None
        self.timer: Any = None
        self.lock = threading.Lock()

    def waiting(self, what):
        """Show `what` with a spinner, after a second, until the first call with a time or `close`."""
        if self.shown:
            self.timer = threading.Timer(PATIENCE, self._spin, [what])
            self.timer.daemon = True
            self.timer.start()

    def __call__(self, t, counts):
        if not self.shown:
            return
        self._still()
        if clock.perf_counter() - self.began < PATIENCE:
            return
        if self.bar is None:
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            text = [TextColumn("{task.description}"), TextColumn("{task.fields[info]}")]
            columns = [text[0], BarColumn(), text[1], TimeRemainingColumn()]
            self.bar = Bar(*columns, console=self._console(), transient=True)
            self.bar.start()
            self.task = self.bar.add_task(self.title, total=self.until - self.start, info="")
        self.bar.update(self.task, completed=t - self.start, info=self.words(t, counts))

    def close(self):
        self._still()
        if self.bar is not None:
            self.bar.stop()
            self.bar = None

    def _console(self):
        from rich.console import Console

        return Console(stderr=True, force_terminal=True if self.forced else None)

    def _spin(self, what):
        from rich.markup import escape

        with self.lock:
            if self.timer is not None:
                self.status = self._console().status(f"{escape(self.title)}: {escape(what)}")
                self.status.start()

    def _still(self):
        """End the spinner, or its wait."""
        if self.timer is None:
            return
        self.timer.cancel()
        with self.lock:
            self.timer = None
            if self.status is not None:
                self.status.stop()
                self.status = None
