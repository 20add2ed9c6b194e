"""Checks of many finished runs at once: which of them are surely correct.

The others have to be checked one by one (`Task.judge`), which gives the reason.
"""

from typing import Any

import numpy as np

from ..run_tolerances import REDUNDANT_ROWS_AGREE
from ..verdict import LoopElements, checked_outputs


class BatchVerdict:
    """Checks of finished runs of a model: wrong assemblies and violated redundant constraints."""

    def __init__(self, task):
        self.model = task.model
        self.projects = task.projection.projects
        self.loops = LoopElements(task.model)
        self.absolute: Any = task.derivation().numeric().absolute if self.loops.needed else None

    def right(self, times, variables, length, inputs, redundant):
        """True for each run that is surely correct: no joint of a loop has jumped, and redundant constraints hold.

        variables   (run, time, …) by name
        length      model size of each run
        inputs      inputs of the kernels besides the state, of each run
        redundant   whether redundant rows were left out, for each run
        """
        good = np.ones(len(length), bool)
        if self.projects and np.any(redundant):
            drift = variables["position_drift"][1].max(axis=1, initial=0.0)
            good &= ~redundant | (drift <= REDUNDANT_ROWS_AGREE * length)
        if not self.loops.needed or not len(length):
            return good
        some = checked_outputs(len(times))
        x, R = (variables[name][1][:, some] for name in ("position", "rotation"))
        x, R = (a.reshape(-1, *a.shape[2:]) for a in (x, R))
        p = inputs[:, self.model.input_layout.model_inputs].repeat(len(some), axis=0)
        t = np.tile(times[some], len(length))
        wrong = self.loops.are_wrong(self.absolute, t, x, R, p, length.repeat(len(some)))
        return good & ~wrong.reshape(len(length), -1).any(axis=1)
