"""A run in portions with checkpoints, so that only a few megabytes of results are in memory."""

import time as clock

import numpy as np

PORTION_BYTES = 2**24  # results in memory


def run_with_checkpoints(runner, checkpoint, bar, note, every, interval):
    """Run from the end of the journals to the last output, in portions, and write checkpoints. Returns the outcome, and the
    signal that ended the run, if any.

    note       its `signal` is set when the process receives a signal to end
    every      wall-clock seconds between checkpoints, or None
    interval   simulated seconds between checkpoints, or None
    """
    times = checkpoint.times
    journal = checkpoint.outputs
    rows = max(1, PORTION_BYTES // (8 * (journal.width + sum(runner.sizes[k] for k in "qvp"))))
    events = max(1, PORTION_BYTES // (8 * max(checkpoint.events.width, 1)))
    stride = np.inf if interval is None else interval
    message = "finished"
    last_wall = clock.monotonic()
    last_time = runner.state.time

    def stop():
        wall_due = every is not None and clock.monotonic() - last_wall >= every
        time_due = runner.state.time - last_time >= stride
        return wall_due or time_due or runner.backlog >= events or note.signal is not None

    def is_unfinished():
        return journal.count < len(times) or runner.state.time < runner.until

    runner.begin(times[:0], last=False)
    outcome = checkpoint.commit(runner, "running")
    while message == "finished" and is_unfinished() and note.signal is None:
        runner.begin(times[journal.count : journal.count + rows], last=journal.count + rows >= len(times))
        message = "paused"
        while message == "paused":
            message = runner.run(bar, stop, stride)
            if message == "interrupted":  # in the middle of a step: only the previous checkpoint is consistent
                return outcome, note.signal
            ended = message != "finished" and message != "paused"
            outcome = checkpoint.commit(runner, message if ended else "running")
            last_wall = clock.monotonic()
            last_time = runner.state.time
            if note.signal is not None and not ended:
                return outcome, note.signal
    if message == "finished" and not is_unfinished():
        outcome = checkpoint.commit(runner, message)
    return outcome, note.signal
