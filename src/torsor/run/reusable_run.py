"""A prepared model that can run many times: derived and compiled once, with records that keep their addresses.

prepared = Prepared(task)
trajectory = prepared.run(times)                    # as `simulate` would, bit for bit
prepared.reset(v=[1.0, 0.0])                        # the same model from another start
trajectory = prepared.run(times)
"""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from .interrupt_signals import reraise_signals


class PreparedRun:
    """A task that is ready to run.

    own      the system at the start of the model
    system   the system at the start of the next run
    runner   set to the start of the next run
    """

    def __init__(self, task):
        self.task = task
        self.own, self.runner = task.prepare()
        self.system = self.own

    def at(self, t=None, q=None, v=None, p=None):
        """The system at another start, in the coordinates of its formulation. None: as at the start of the model.

        The start has to satisfy the active constraints. p: all inputs of the kernels besides the state, in the order of
        `Model.inputs` (parameters, memories of events, states of the user), followed by the turns of joints.
        """
        requested = {"q": q, "v": v, "p": p}
        numbers = {name: np.asarray(x, float).tolist() for name, x in requested.items() if x is not None}
        return replace(self.own, **numbers, **({} if t is None else {"t": float(t)}))

    def reset(self, t=None, q=None, v=None, p=None, system=None, until=None):
        """Begin the next run at another start, or at the start of the model if none is given. No earlier run influences it.

        system   instead of t, q, v and p: a system of the same model and formulation, prepared with other parameters
        until    end of the run; None: unchanged
        """
        requested = any(x is not None for x in (t, q, v, p))
        self.system = system if system is not None else self.at(t, q, v, p) if requested else self.own
        with nullcontext() if self.system.choice is self.runner.choice else reraise_signals():
            self.runner.restart(self.system, until=until)

    def run(self, times, progress=None):
        """Run from the start through the output times to the end of the run. Returns a `Trajectory`."""
        with reraise_signals():
            self.runner.begin(times)
        return self.runner.collect(self.runner.run(progress))
