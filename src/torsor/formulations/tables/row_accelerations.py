"""Relative accelerations of constraints of a large system, G v̇ − γ: how fast an open contact is approached."""

import casadi as ca
import numpy as np

from ..algebra.lie_derivative import stack_linear_angular
from .recursion_classes import function


def add_row_accelerations(outputs, constraints, vector, targets):
    """Append G v̇ − γ of constraints to the schedule of `outputs`, whether they are engaged or not.

    outputs       `Outputs`, which have computed the accelerations of all bodies
    constraints   indices of the constraints, each with one row
    vector        vector of the results; targets: their offsets
    """
    passes, s, system = outputs.kernels, outputs.schedule, outputs.system
    chosen = np.array(constraints)
    classes, kinds = system.rows
    ends = system.ends_of_constraints[chosen]
    index = {id(body): k for k, body in enumerate(system.shown.bodies)}
    shown = np.array([index[id(body)] for body in system.tree.bodies])
    body = 3 * shown[np.maximum(ends, 0)]  # of a ground: any, its acceleration is not used
    accelerations = [outputs.offsets[name] + at for at in body.T for name in ("acceleration", "angular_acceleration")]
    motion = passes.motion(s)
    vectors = ["memory", "memory", "constants", "memory", *[outputs.row] * 4, vector]
    further = passes.further.copy(s)[chosen]
    offsets = [*passes.motion_offsets(motion, ends).T, passes.frames[chosen], further, *accelerations, targets]
    used, own = np.unique(kinds[chosen], return_inverse=True)
    s.call([_row_acceleration(classes[k]) for k in used.tolist()], vectors, own, offsets)


def _row_acceleration(rows):
    """The function of G v̇ − γ of a class of rows."""
    accelerations = [[ca.SX.sym("a", 3) for _ in range(2)] for _ in rows.G]
    total = -rows.gamma
    for J, a in zip(rows.G, accelerations):
        if J is not None:
            total += J @ stack_linear_angular(*a)
    inputs = [*(end.motion for end in rows.ends), rows.c, rows.further, *accelerations[0], *accelerations[1]]
    return function("approach", inputs, [ca.densify(total)])
