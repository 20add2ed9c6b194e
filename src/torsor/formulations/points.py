"""Where the frames and points of bodies are, and how they move with the velocities of a formulation.

A body's frame is the one that it was described with: at its centre of mass, unless its inertia has its centre elsewhere.

    x = x_c + R (r − c),      ẋ = ẋ_c + R (ω × (r − c)) = J v + …                                        (1)

r, c   the point and the centre of mass in the body's own axes, from the origin of its frame [m]
J      of a ground that moves by itself only the part that velocities have a share in
"""

import casadi as ca

from ..describe.quantity import time
from ..lie import se3
from .graphs import shared


def functions(f, body):
    """Functions of one body, by name, in any formulation; point: in its own axes, from the origin of its frame.

    point            (t, q, p, point) → x, world axes
    point_jacobian   (t, q, p, point) → J with ẋ = J v, world axes: (1)
    """
    r = ca.SX.sym("point", 3)
    x, speed = (f.placed(f.substitution.of(e)) for e in (body.point(r), body.velocity_of(r)))
    found = {"point": x, "point_jacobian": ca.jacobian(speed, f.v)}
    return {name: shared(ca.Function(name, [time, f.q, f.p, r], [ca.densify(ca.vec(e))])) for name, e in found.items()}


def poses(f):
    """Function (t, q, p) → the poses H of all bodies' frames, body by body, each column by column."""
    every = [ca.vec(se3.pose(body.rotation, body.point())) for body in f.model.bodies]
    placed = f.placed(f.substitution.of(ca.densify(ca.vertcat(*every))))
    return shared(ca.Function("poses", [time, f.q, f.p], [ca.densify(placed)]))
