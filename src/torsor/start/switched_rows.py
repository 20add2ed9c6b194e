"""Units of the rows that events switch in a large system, as (2) of `formulations/algebra/scales.py`."""

import casadi as ca
import numpy as np

from ..formulations.algebra.lie_derivative import split_linear_angular
from ..formulations.output_layout import OutputLayout
from ..formulations.tables.row_classes import MOTION_SIZE


def switched_row_units(passes, scales, outputs, parts, t, x, p):
    """Units of the rows of all constraints that events switch, by label.

    scales    of the system
    outputs   kernel of the outputs, by which the poses of all bodies at the start are computed; parts: its outputs
    t, x, p   the start; two-sided constraints are closed on their first side
    """
    system = passes.system
    if system.whole.lasting_loops.all():
        return {}
    chosen = system.first_loop + np.flatnonzero(~system.lasting_loops)
    layout = passes.layout
    row = outputs(np.array([t]), x, p, np.zeros(layout.algebra), np.zeros(passes.multipliers))[0]
    poses = _end_poses(system, OutputLayout(parts).split(row))
    further = passes.further.numbers(t, x, p)
    classes, kinds = system.rows
    units: dict[str, float] = {}
    for kind in np.unique(kinds[chosen]):
        members = chosen[kinds[chosen] == kind]
        c = classes[kind]
        lengths = _row_lengths(c, scales.length).map(len(members))
        ends = [poses[system.ends_of_constraints[members, k]].T for k in (0, 1)]
        numbers = further[members, : c.further.shape[0]].T
        found = np.array(lengths(*ends, system.frames[members][:, c.data].T, numbers)).T
        labels = [f"{system.constraints[m].name}[{k}]" for m in members.tolist() for k in range(c.size)]
        units |= {label: unit for label, unit in zip(labels, found.ravel().tolist()) if unit > 0}
    return units


def _end_poses(system, outputs):
    """Motions of all bodies at rest by their numbers; grounds are at the end, in reverse order."""
    n = len(system.tree.bodies)
    index = {id(body): k for k, body in enumerate(system.shown.bodies)}
    own = np.array([index[id(body)] for body in system.tree.bodies])
    poses = np.zeros((n + len(system.grounds), MOTION_SIZE))
    poses[:n, :3] = outputs["position"].reshape(n, 3)[own]
    poses[:n, 3:12] = outputs["rotation"].reshape(n, 9)[own]
    poses[n:, :12] = system.still[::-1]
    return poses


def _row_lengths(rows, length):
    """The function of the lengths of the rows of G of a class, while the bodies are free."""
    total = ca.SX.zeros(rows.size)
    for J in rows.G:
        if J is not None:
            linear, angular = split_linear_angular(ca.densify(J).T)
            total += ca.sum1((linear * length) ** 2).T + ca.sum1(angular**2).T
    inputs = [*(end.motion for end in rows.ends), rows.c, rows.further]
    return ca.Function("lengths", inputs, [ca.densify(ca.sqrt(total))])
