"""Dry friction of mechanisms with prescribed motion. Where surfaces move relative to each other they slide, in a known direction.

    f = −c u/|u|        u: sliding velocity, c: friction force, see `forces/friction.py`                (1)

Friction of surfaces at rest is not determined and is not included.
"""

import casadi as ca
import numpy as np

from ... import kernels
from ...elements.quantity import time
from ...formulations.graphs.run_kernels import eliminate_common_subexpressions
from .path_tolerances import SLIDING_ABOVE


def set_sliding(problem, t, q, v, p):
    """The inputs p with sliding and its direction set at each instant: (1). Contacts are open and have no friction."""
    f, model = problem.f, problem.model

    def is_active_friction(c):
        if not c.dry_friction or c.host is not None:
            return False
        return c.starts_armed and all(x.acts is not False for x in c.within())

    rows = [k for k, row in enumerate(f.rows) if is_active_friction(row.constraint)]
    if not rows:
        return p
    graph = ca.Function("sliding", [time, f.q, f.v, f.p], [ca.densify(f.stack_rows("psi")[rows, :])])
    u = kernels.build({"sliding": eliminate_common_subexpressions(graph)})["sliding"].over(t, q, v, p)[0]
    largest = np.abs(v / problem.columns).max(initial=0.0)
    slides = np.abs(u / problem.dynamics._examiner.units(0.0, q[0], p[0], rows)) > SLIDING_ABOVE * largest
    place, p = model.input_layout.place, p.copy()
    for k, row in enumerate(rows):
        friction = f.rows[row].constraint
        p[:, place(friction.slip)] = slides[:, k]
        p[:, place(friction.direction[0])] = np.where(u[:, k] < 0, -1.0, 1.0)
    return p
