"""Several simulations that advance together, call by call, in SIMD lanes: the states of all are rows of one matrix."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from .lane_runner import LANES, join_lanes, lane_groups, run_groups, split_lanes


class LaneStepper:
    """Fixed explicit steps of several simulations, with the bits of each alone.

    x, p     states and inputs of the kernels besides the state, one row for each simulation
    """

    def __init__(self, runner, library, x, p, threads=1):
        self.x = x
        self.p = p
        groups = -(-len(x) // LANES)
        share = -(-groups // min(threads, groups)) * LANES  # simulations of one thread
        self.parts = [slice(k, min(k + share, len(x))) for k in range(0, len(x), share)]
        self.records = [self._record(runner, library, part) for part in self.parts]
        self.pool = ThreadPoolExecutor(len(self.parts)) if len(self.parts) > 1 else None

    def _record(self, runner, library, part):
        """The record of the compiled loop for the simulations of one thread."""
        groups = -(-(part.stop - part.start) // LANES)
        x, p = (join_lanes(rows[part, None], groups) for rows in (self.x, self.p))
        return lane_groups(runner, library, np.zeros(1), x, p, edges=np.zeros(1), inputs=np.zeros((groups, 0)))

    def advance(self, time, end, shifts):
        """States of all simulations after steps from `time` to `end`; `x` stays as it is.

        shifts   time of each simulation less `time`
        """
        reached = np.empty_like(self.x)

        def run(part, record):
            groups, count = len(record.x), part.stop - part.start
            record.x[:] = join_lanes(self.x[part, None], groups)
            record.p[:] = join_lanes(self.p[part, None], groups)
            record.shifts[:] = join_lanes(shifts[part, None, None], groups)
            record.group, record.start, record.end = 0, time, end
            record.times[0] = record.edges[0] = end
            run_groups(record)
            reached[part] = split_lanes(record.xs, count, 1)

        if self.pool is None:
            run(self.parts[0], self.records[0])
        else:
            for _ in self.pool.map(run, self.parts, self.records):
                pass
        return reached
