"""The quantities of robot dynamics in joint coordinates: mass and Coriolis matrix, gravity, forward and inverse dynamics.

    M v̇ + C v + g = τ + Gᵀ λ                                                                        (1)
    M = Σ Jᵀ diag(m 1, Θ) J,     C = Σ Jᵀ (diag(m 1, Θ) J̇ + diag(0, −(Θ ω)~) J)                       (2)

J maps v to (ẋ, ω) of a body. Ṁ − 2 C is skew-symmetric, since the gyroscopic part is (Müller and Terze, eq. 52
[mueller2009]). Time is held: on a ground that moves, C and g are those of its pose at that time, and what its velocity and
acceleration demand besides is in the inverse dynamics alone.
"""

from typing import Any

import casadi as ca

from ..describe.quantity import time
from ..errors import OptionError
from ..lie import se3
from . import recursions
from .factor import Factor
from .graphs import shared
from .lie_derivative import parts, together


def functions(f):
    """All of them for a formulation in joint coordinates, by name."""
    return {name: function(f, name) for name in QUANTITIES}


def function(f, name):
    """One of them."""
    if not hasattr(f, "motion"):
        raise OptionError(f"formulation {f.key!r} has no joint coordinates: use 'relative' or 'woronetz'")
    inputs, quantity = QUANTITIES[name]
    forces = not {"a", "tau"}.isdisjoint(inputs)
    if f.implicit and forces:
        raise OptionError(
            f"model {f.model.name!r} has forces that depend on reactions or accelerations (dry friction): its forward and "
            "inverse dynamics with further joint forces are not available; use accelerations()"
        )
    more = ca.SX.sym("a or tau", f.v.shape[0])
    symbols = {"t": time, "q": f.q, "v": f.v, "p": f.p, "a": more, "tau": more}
    result = quantity(f, more) if forces else quantity(f)
    return shared(ca.Function(name, [symbols[x] for x in inputs], [ca.densify(result)]))


def jacobian(f):
    """J of all bodies, body by body in the order of the model: ẋ (world axes) and ω (body axes)."""
    rows = []
    for body in f.model.bodies:
        _, _, velocity, w = f.motion.body(f.link_of[id(body)])
        rows.append(together(velocity, w))
    return ca.jacobian(ca.vertcat(*rows), f.v)


def derivative_functions(f, body):
    """Twist Jacobian of one body and its partial derivatives, by name."""
    if not hasattr(f, "motion"):
        raise OptionError(f"formulation {f.key!r} has no joint coordinates: use 'relative' or 'woronetz'")
    found = {"twist_jacobian": twist_jacobian(f, body), "jacobian_derivative": jacobian_derivative(f, body)}
    return {name: shared(ca.Function(name, [f.q, f.p], [ca.densify(x)])) for name, x in found.items()}


def twist_jacobian(f, body):
    """K of one body: its twist (angular first, at its centre of mass, in its own axes) is K v, wherever the ground is."""
    _, R, velocity, w = f.motion.body(f.link_of[id(body)])
    return ca.substitute(ca.densify(ca.jacobian(se3.twist(angular=w, linear=R.T @ velocity), f.v)), time, 0)


def jacobian_derivative(f, body):
    """∂K_a/∂q_b of one body by Lie brackets, as a matrix (6, n·n) with column a + n b:

    ∂_b K_a = [K_a, K_b] where b follows a on the way from the root to the body, else 0   (Müller and Terze, sec. 3.4)   (3)

    Inside a joint whose coordinates are no product of exponentials the derivative is taken as such.
    """
    K, n = twist_jacobian(f, body), f.v.shape[0]
    path: list = []
    link = f.link_of[id(body)]
    while link is not None:
        at = f.offset[id(link)]
        own = range(at, at + link.v.shape[0])
        path = ([*own] if link.declared and not hasattr(link.group, "matrix") else [[*own]]) + path
        link = link.parent
    columns = {}
    for link in f.links:
        if not link.declared:
            for i in range(f.offset[id(link)], f.offset[id(link)] + link.v.shape[0]):
                for k in range(link.v.shape[0]):
                    columns[i + n * (f.offset[id(link)] + k)] = ca.jacobian(K[:, i], link.x[k])
    for place, b in enumerate(path):  # a block of rotations or rigid motions has no order inside
        for a in path[:place]:
            for i in a if isinstance(a, list) else [a]:
                for j in b if isinstance(b, list) else [b]:
                    columns[i + n * j] = se3.ad(K[:, i]) @ K[:, j]  # (3)
    return ca.horzcat(*[columns.get(k, ca.SX.zeros(6)) for k in range(n * n)])


def coriolis(f):
    """C(q, v): (2), which does not depend on the pose of the ground."""
    J = ca.substitute(ca.densify(jacobian(f)), time, 0)
    along = ca.vertcat(*[link.rates for link in f.links])
    rate = ca.reshape(ca.jtimes(ca.vec(J), f.q, along), *J.shape)
    total = ca.SX.zeros(f.v.shape[0], f.v.shape[0])
    for k, body in enumerate(f.model.bodies):
        (linear, angular), (linear_rate, angular_rate) = (parts(x[6 * k : 6 * k + 6, :]) for x in (J, rate))
        gyro = -ca.skew(body.inertia @ (angular @ f.v))
        total += body.mass * (linear.T @ linear_rate) + angular.T @ (body.inertia @ angular_rate + gyro @ angular)
    return total


def _rows(f, x):
    return {id(link): x[f.offset[id(link)] : f.offset[id(link)] + link.v.shape[0]] for link in f.links}


def _weight(f):
    """g = −Σ Jᵀ (m g, 0): what holds the tree at rest against gravity alone."""
    J, pull = jacobian(f), f.model.gravity
    lifted = [-body.mass * (parts(J[6 * k : 6 * k + 6, :])[0].T @ pull) for k, body in enumerate(f.model.bodies)]
    return sum(lifted, ca.SX.zeros(f.v.shape[0]))


def _forward(f, tau):
    """v̇ under the model's forces and further joint forces τ, constraints included."""
    if not f.keep:
        extra, given = f.driving(), _rows(f, tau)
        pushed = {k: extra[k] + given[k] for k in extra}
        rates = recursions.articulated(f.motion, f.wrenches(), pushed)
        return f.placed(ca.vertcat(*[rates[id(link)] for link in f.links]))
    factor = Factor(f.jacobian()[f.keep, :], f.mass_matrix(), f.row_units())
    G, solve, over_mass = factor.read(factor.vector())
    free = over_mass(tau - f.bias())
    return free + over_mass(G.T @ solve(f.stacked("gamma")[f.keep] - G @ free))


QUANTITIES: dict[str, tuple[tuple[str, ...], Any]] = {  # by name: inputs, and what is written with them
    "mass_matrix": (("q", "p"), lambda f: f.mass_matrix()),
    "coriolis": (("q", "v", "p"), coriolis),
    "gravity": (("t", "q", "p"), _weight),
    "inverse_dynamics": (("t", "q", "v", "a", "p"), lambda f, a: f.needed(a)),
    "forward_dynamics": (("t", "q", "v", "tau", "p"), _forward),
    "body_jacobian": (("t", "q", "p"), jacobian),
}
