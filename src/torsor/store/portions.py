"""A run in portions, with checkpoints on the way: no more than a few megabytes of results are held in memory."""

import time as clock

import numpy as np

PORTION = 2**24  # bytes of results that are held in memory


def drive(runner, checkpoint, bar, note, every, interval):
    """Run from where the journals end to the last output, in portions, with checkpoints on the way. Returns the outcome and
    the signal that ended it, if one did.

    note       of a signal that asks the run to end
    every      wall-clock seconds between checkpoints, or None; interval: simulated seconds, or None
    """
    times, journal = checkpoint.times, checkpoint.outputs
    rows = max(1, PORTION // (8 * (journal.width + sum(runner.sizes[k] for k in "qvp"))))
    events = max(1, PORTION // (8 * max(checkpoint.events.width, 1)))
    stride = np.inf if interval is None else interval
    message, last, since = "finished", clock.monotonic(), runner.state.time

    def stop():
        late = every is not None and clock.monotonic() - last >= every
        far = runner.state.time - since >= stride
        return late or far or runner.backlog >= events or note.signal is not None

    more = lambda: journal.count < len(times) or runner.state.time < runner.until
    runner.begin(times[:0], last=False)
    told = checkpoint.commit(runner, "running")
    while message == "finished" and more() and note.signal is None:
        runner.begin(times[journal.count : journal.count + rows], last=journal.count + rows >= len(times))
        message = "paused"
        while message == "paused":
            message = runner.run(bar, stop, stride)
            if message == "interrupted":  # anywhere: the checkpoint before is the last that can be relied on
                return told, note.signal
            ended = message != "finished" and message != "paused"
            told = checkpoint.commit(runner, message if ended else "running")
            last, since = clock.monotonic(), runner.state.time
            if note.signal is not None and not ended:
                return told, note.signal
    if message == "finished" and not more():
        told = checkpoint.commit(runner, message)
    return told, note.signal
