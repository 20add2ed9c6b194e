"""Dry friction of mechanisms whose motion is prescribed: what moves slides, and the way in which it does is known.

    f = −c u/|u|        u: sliding velocity, c: friction force, see `forces/friction.py`                (1)

What stands still bears anything up to what it can hold; nothing is counted of that.
"""

import casadi as ca
import numpy as np

from .. import kernels
from ..describe.quantity import time
from ..forces.friction import DryFriction
from ..formulations.graphs import shared

STANDS = 1e-9  # sliding velocity over the largest velocity on the way, both without units of length


def slid(problem, t, q, v, p):
    """The inputs p of each instant with what slides there, and which way: (1). Contacts are open, and have no friction."""
    f, model = problem.f, problem.model
    acts = lambda c: c.starts_armed and all(x.acts is not False for x in c.within())
    rubs = lambda c: isinstance(c, DryFriction) and c.host is None and acts(c)
    rows = [k for k, row in enumerate(f.rows) if rubs(row.constraint)]
    if not rows:
        return p
    graph = ca.Function("sliding", [time, f.q, f.v, f.p], [ca.densify(f.stacked("psi")[rows, :])])
    u = kernels.build({"sliding": shared(graph)})["sliding"].over(t, q, v, p)[0]
    fast = np.abs(v / problem.columns).max(initial=0.0)
    moves = np.abs(u / problem.dynamics._examiner.units(0.0, q[0], p[0], rows)) > STANDS * fast
    places, p = {id(m): len(model.parameters) + k for k, m in enumerate(model.memories)}, p.copy()
    for k, row in enumerate(rows):
        friction = f.rows[row].constraint
        p[:, places[id(friction.slip)]] = moves[:, k]
        p[:, places[id(friction.direction[0])]] = np.where(u[:, k] < 0, -1.0, 1.0)
    return p
