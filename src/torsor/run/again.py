"""A model that runs as often as it is asked to: derived and compiled once, with records that keep their places.

prepared = Prepared(task)
trajectory = prepared.run(times)                    # as `simulate` would, bit for bit
prepared.reset(v=[1.0, 0.0])                        # the same model from another start
trajectory = prepared.run(times)
"""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from .interruption import never_lost


class Prepared:
    """A task that is ready to run.

    system   at the start from which the next run begins; `own` is the one at the start of the model
    runner   set to that start: whatever runs next begins there
    """

    def __init__(self, task):
        self.task = task
        self.own, self.runner = task.prepared()
        self.system = self.own

    def at(self, t=None, q=None, v=None, p=None):
        """The system at another start, in the coordinates of its formulation; what is None is as at the start of the model.

        The start has to satisfy the constraints that hold there. p: values of all that kernels take besides the state, in the
        order of `Model.inputs`, with turns of joints behind: parameters, memories of events, states of the user.
        """
        given = {"q": q, "v": v, "p": p}
        numbers = {name: np.asarray(x, float).tolist() for name, x in given.items() if x is not None}
        return replace(self.own, **numbers, **({} if t is None else {"t": float(t)}))

    def reset(self, t=None, q=None, v=None, p=None, system=None, until=None):
        """The next run begins at another start, or at that of the model where nothing is given: as if nothing had run before.

        system   a whole system in the place of t, q, v and p: of the same model and formulation, prepared with other parameters
        until    end of the run; None: as it was
        """
        asked = any(x is not None for x in (t, q, v, p))
        self.system = system if system is not None else self.at(t, q, v, p) if asked else self.own
        with nullcontext() if self.system.choice is self.runner.choice else never_lost():
            self.runner.restart(self.system, until=until)

    def run(self, times, progress=None):
        """Run from the start through these times to the end of the run. Returns a `Trajectory`."""
        with never_lost():
            self.runner.begin(times)
        return self.runner.collect(self.runner.run(progress))
