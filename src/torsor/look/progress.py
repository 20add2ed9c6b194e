"""A progress bar for runs that take longer than a second."""

import sys
import time as clock


class Progress:
    """Called with the simulated time and the counts of a run; shows itself after one second, on a terminal."""

    def __init__(self, start, until, title, shown=None):
        self.start, self.until, self.title = start, until, title
        self.shown = sys.stderr.isatty() if shown is None else shown
        self.began = clock.perf_counter()
        self.bar = self.task = None

    def __call__(self, t, counts):
        if not self.shown or clock.perf_counter() - self.began < 1.0:
            return
        if self.bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[info]}"), TimeRemainingColumn())
            self.bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self.bar.start()
            self.task = self.bar.add_task(self.title, total=self.until - self.start, info="")
        self.bar.update(self.task, completed=t - self.start, info=f"t = {t:.4g} s, {int(counts[0])} steps")

    def close(self):
        if self.bar is not None:
            self.bar.stop()
