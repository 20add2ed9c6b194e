"""Checks of many finished runs at once: which of them are surely correct.

The others have to be checked one by one (`Task.judge`), which gives the reason.
"""

from typing import Any

import numpy as np

from ...kernels.derivation_lock import DERIVING
from ...model.topology import spanning_tree
from ...start.impostors import ALIGNED_COSINE, IMPOSTOR_IN_RUN
from ..run_tolerances import REDUNDANT_ROWS_AGREE
from ..verdict import OUTPUTS_CHECKED, is_permanent


class BatchVerdict:
    """Checks of finished runs of a model: wrong assemblies and violated redundant constraints.

    joints   for each joint, whether it closes a loop, so that it may jump to a wrong assembly
    others   for each constraint, whether it is permanent, so that it may jump to a wrong assembly
    """

    def __init__(self, task):
        self.model = task.model
        self.projects = task.projection.projects
        model, switched = self.model, {id(element) for element in self.model.switched_elements}
        cut = {id(joint) for joint in spanning_tree(model).cut} - switched
        self.joints = np.array([id(joint) in cut for joint in model.joints], bool)
        closes = cut or not all(c.has_coordinates for c in model.constraints)
        self.others = np.array(
            [closes and id(c) not in switched and is_permanent(model, c) for c in model.constraints], bool
        )
        self.needed = bool(self.joints.any() or self.others.any())
        self.absolute: Any = task.derivation().face().absolute if self.needed else None
        self.keep = np.concatenate([np.arange(12) < (3 if body.particle else 12) for body in model.bodies])

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
        if not self.needed or not len(length):
            return good
        some = np.unique(np.linspace(0, len(times) - 1, OUTPUTS_CHECKED).astype(int))
        x, R = (variables[name][1][:, some] for name in ("position", "rotation"))
        whole = np.concatenate([x, R.swapaxes(3, 4).reshape(*x.shape[:3], 9)], axis=3)
        q = whole.reshape(len(length) * len(some), -1)[:, self.keep]
        turns = np.zeros((len(length), len(self.absolute.turns)))
        p = np.concatenate([inputs[:, self.model.input_layout.model_inputs], turns], axis=1).repeat(len(some), axis=0)
        t = np.tile(times[some], len(length))[:, None]
        with DERIVING:
            angle, shift = np.moveaxis(self.absolute.start_functions["departures"].over(t, q, p)[:, self.joints], 2, 0)
            cosines = self.absolute.start_functions["alignments"].over(t, q, p)[:, self.others, 0]
        departure = np.maximum(angle, shift / length.repeat(len(some))[:, None])
        right = (departure <= IMPOSTOR_IN_RUN).all(axis=1) & (cosines >= ALIGNED_COSINE).all(axis=1)
        return good & right.reshape(len(length), -1).all(axis=1)
