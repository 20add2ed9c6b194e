"""Positions of body frames and body points, and their Jacobians with respect to the velocities of a formulation.

A body's frame is the one that it was described with: at its centre of mass, unless its inertia has another centre.

    x = x_c + R (r − c),      ẋ = ẋ_c + R (ω × (r − c)) = J v + …                                        (1)

r, c   the point and the centre of mass in the body's own axes, from the origin of its frame [m]
J      Jacobian with respect to v; the prescribed velocity of a moving ground is not part of J v
"""

import casadi as ca

from ..elements.quantity import time
from ..formulations.graphs.run_kernels import eliminate_common_subexpressions
from ..lie import se3


def functions(f, body):
    """Functions of one body by name, in any formulation f; point: in the body's own axes, from the origin of its frame.

    point            (t, q, p, point) → x, world axes
    point_jacobian   (t, q, p, point) → J with ẋ = J v, world axes: (1)
    """
    r = ca.SX.sym("point", 3)
    x, velocity = (f.to_state_symbols(f.substitution.of(e)) for e in (body.point(r), body.velocity_of(r)))
    results = {"point": x, "point_jacobian": ca.jacobian(velocity, f.v)}
    return {
        name: eliminate_common_subexpressions(ca.Function(name, [time, f.q, f.p, r], [ca.densify(ca.vec(e))]))
        for name, e in results.items()
    }


def poses(f):
    """Function (t, q, p) → the poses H of all bodies' frames, body by body, each column by column."""
    columns = [ca.vec(se3.pose(body.rotation, body.point())) for body in f.model.bodies]
    result = f.to_state_symbols(f.substitution.of(ca.densify(ca.vertcat(*columns))))
    return eliminate_common_subexpressions(ca.Function("poses", [time, f.q, f.p], [ca.densify(result)]))
