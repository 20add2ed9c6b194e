"""Many runs that are over, looked through at once: which of them are surely what they seem.

Those that are doubted have to be judged one by one (`Task.judged`), which says what is wrong.
"""

from typing import Any

import numpy as np

from ..describe.topology import spanning_tree
from ..joints import Joint
from ..kernels.deriving import DERIVING
from ..start.impostors import ALIGNED, JUMPED
from .outcome import AGREES, lasts


class Doubts:
    """What may go wrong in runs of a model although they come to their end.

    joints, others   whether joints close a loop, or constraints last, so that they may come together the wrong way round
    """

    def __init__(self, task):
        self.model, self.projects = task.model, task.projection.projects
        model, switched = self.model, {id(element) for element in self.model.switched}
        cut = {id(joint) for joint in spanning_tree(model).cut} - switched
        self.joints = np.array([id(joint) in cut for joint in model.joints], bool)
        closes = cut or not all(isinstance(c, Joint) for c in model.constraints)
        self.others = np.array([closes and id(c) not in switched and lasts(model, c) for c in model.constraints], bool)
        self.needed = bool(self.joints.any() or self.others.any())
        self.absolute: Any = task.derived().face().absolute if self.needed else None
        self.keep = np.concatenate([np.arange(12) < (3 if body.particle else 12) for body in model.bodies])

    def right(self, times, variables, length, inputs, redundant):
        """Whether runs are surely right: no joint of a loop has jumped, redundant constraints hold.

        variables   (run, time, …) by name
        length, inputs, redundant   of each run: its size, what kernels take besides the state, whether rows were left out
        """
        good = np.ones(len(length), bool)
        if self.projects and np.any(redundant):
            good &= ~redundant | (variables["position_drift"][1].max(axis=1, initial=0.0) <= AGREES * length)
        if not self.needed or not len(length):
            return good
        some = np.unique(np.linspace(0, len(times) - 1, 9).astype(int))
        x, R = (variables[name][1][:, some] for name in ("position", "rotation"))
        whole = np.concatenate([x, R.swapaxes(3, 4).reshape(*x.shape[:3], 9)], axis=3)
        q = whole.reshape(len(length) * len(some), -1)[:, self.keep]
        turns = np.zeros((len(length), len(self.absolute.turns)))
        p = np.concatenate([inputs[:, : len(self.model.inputs)], turns], axis=1).repeat(len(some), axis=0)
        t = np.tile(times[some], len(length))[:, None]
        with DERIVING:
            angle, shift = np.moveaxis(self.absolute.examined["departures"].over(t, q, p)[:, self.joints], 2, 0)
            cosines = self.absolute.examined["alignments"].over(t, q, p)[:, self.others, 0]
        off = np.maximum(angle, shift / length.repeat(len(some))[:, None])
        right = (off <= JUMPED).all(axis=1) & (cosines >= ALIGNED).all(axis=1)
        return good & right.reshape(len(length), -1).all(axis=1)
