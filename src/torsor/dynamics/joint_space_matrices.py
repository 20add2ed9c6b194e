"""The quantities of robot dynamics in joint coordinates: mass and Coriolis matrix, gravity, forward and inverse dynamics.

    M v̇ + C v + g = τ + Gᵀ λ                                                                        (1)
    M = Σ Jᵀ diag(m 1, Θ) J,     C = Σ Jᵀ (diag(m 1, Θ) J̇ + diag(0, −(Θ ω)~) J)                       (2)

J maps v to (ẋ, ω) of a body. Ṁ − 2 C is skew-symmetric, since the gyroscopic part is (Müller and Terze, eq. 52
[mueller2009]). On a moving ground C and g are evaluated at the ground's pose at time t. The forces due to its velocity and
acceleration are part of the inverse dynamics only.
"""

from typing import Any

import casadi as ca

from ..elements.quantity import time
from ..errors import OptionError
from ..formulations.algebra import recursions
from ..formulations.algebra.factorisation import Factor, mass_solver
from ..formulations.algebra.lie_derivative import split_linear_angular, stack_linear_angular
from ..formulations.graphs.run_kernels import eliminate_common_subexpressions
from ..lie import se3


def functions(f):
    """CasADi functions of all quantities for a formulation in joint coordinates, by name."""
    return {name: function(f, name) for name in QUANTITIES}


def require_joint_coordinates(f):
    """Raise an OptionError if a formulation has no joint coordinates."""
    if not hasattr(f, "motion"):
        raise OptionError(f"formulation {f.key!r} has no joint coordinates: use 'relative' or 'woronetz'")


def function(f, name):
    """The CasADi function of one quantity."""
    require_joint_coordinates(f)
    inputs, quantity = QUANTITIES[name]
    forces = not {"a", "tau"}.isdisjoint(inputs)
    if f.implicit and forces:
        raise OptionError(
            f"model {f.model.name!r} has forces that depend on reactions or accelerations (dry friction): forward and "
            "inverse dynamics with additional joint forces are not available; use accelerations()"
        )
    argument = ca.SX.sym("a or tau", f.v.shape[0])
    symbols = {"t": time, "q": f.q, "v": f.v, "p": f.p, "a": argument, "tau": argument}
    result = quantity(f, argument) if forces else quantity(f)
    return eliminate_common_subexpressions(ca.Function(name, [symbols[x] for x in inputs], [ca.densify(result)]))


def jacobian(f):
    """J of all bodies, body by body in the order of the model: ẋ (world axes) and ω (body axes)."""
    rows = []
    for body in f.model.bodies:
        _, _, velocity, w = f.motion.body(f.link_of[id(body)])
        rows.append(stack_linear_angular(velocity, w))
    return ca.jacobian(ca.vertcat(*rows), f.v)


def derivative_functions(f, body):
    """Twist Jacobian of one body and its partial derivatives, by name."""
    require_joint_coordinates(f)
    results = {"twist_jacobian": twist_jacobian(f, body), "jacobian_derivative": jacobian_derivative(f, body)}
    return {
        name: eliminate_common_subexpressions(ca.Function(name, [f.q, f.p], [ca.densify(x)]))
        for name, x in results.items()
    }


def twist_jacobian(f, body):
    """K of one body: its twist (angular first, at its centre of mass, in its own axes) is K v, for any pose of the ground."""
    _, R, velocity, w = f.motion.body(f.link_of[id(body)])
    return ca.substitute(ca.densify(ca.jacobian(se3.twist(angular=w, linear=R.T @ velocity), f.v)), time, 0)


def jacobian_derivative(f, body):
    """∂K_a/∂q_b of one body by Lie brackets, as a matrix (6, n·n) with column a + n b:

    ∂_b K_a = [K_a, K_b] where b follows a on the path from the root to the body, else 0   (Müller and Terze, sec. 3.4)   (3)

    Inside a joint whose coordinates are not a product of exponentials K is differentiated directly.
    """
    K = twist_jacobian(f, body)
    n = f.v.shape[0]
    path: list = []
    link = f.link_of[id(body)]
    while link is not None:
        first = f.offset[id(link)]
        indices = range(first, first + link.v.shape[0])
        path = ([*indices] if link.declared and not hasattr(link.group, "matrix") else [[*indices]]) + path
        link = link.parent
    columns = {}
    for link in f.links:
        if not link.declared:
            for i in range(f.offset[id(link)], f.offset[id(link)] + link.v.shape[0]):
                for k in range(link.v.shape[0]):
                    columns[i + n * (f.offset[id(link)] + k)] = ca.jacobian(K[:, i], link.x[k])
    for position, b in enumerate(path):  # the velocities of a rotation or rigid motion have no order among themselves
        for a in path[:position]:
            for i in a if isinstance(a, list) else [a]:
                for j in b if isinstance(b, list) else [b]:
                    columns[i + n * j] = se3.ad(K[:, i]) @ K[:, j]  # (3)
    return ca.horzcat(*[columns.get(k, ca.SX.zeros(6)) for k in range(n * n)])


def coriolis(f):
    """C(q, v) by (2); it does not depend on the pose of the ground."""
    J = ca.substitute(ca.densify(jacobian(f)), time, 0)
    q_dot = ca.vertcat(*[link.rates for link in f.links])
    rate = ca.reshape(ca.jtimes(ca.vec(J), f.q, q_dot), *J.shape)
    total = ca.SX.zeros(f.v.shape[0], f.v.shape[0])
    for k, body in enumerate(f.model.bodies):
        (linear, angular), (linear_rate, angular_rate) = (
            split_linear_angular(x[6 * k : 6 * k + 6, :]) for x in (J, rate)
        )
        gyro = -ca.skew(body.inertia @ (angular @ f.v))
        total += body.mass * (linear.T @ linear_rate) + angular.T @ (body.inertia @ angular_rate + gyro @ angular)
    return total + f.coriolis_of_coupled_rotors()


def _split_by_link(f, x):
    """Parts of a vector of velocities or joint forces, by the id of the link."""
    return {id(link): x[f.offset[id(link)] : f.offset[id(link)] + link.v.shape[0]] for link in f.links}


def _gravity_forces(f):
    """g = −Σ Jᵀ (m g, 0): joint forces that hold the tree at rest against gravity alone."""
    J = jacobian(f)
    terms = [
        -body.mass * (split_linear_angular(J[6 * k : 6 * k + 6, :])[0].T @ f.model.gravity)
        for k, body in enumerate(f.model.bodies)
    ]
    return sum(terms, ca.SX.zeros(f.v.shape[0]))


def _forward_dynamics(f, tau):
    """v̇ under the model's forces and additional joint forces τ, with the constraints satisfied."""
    if not f.keep and f.coupled:
        return mass_solver(f.mass_matrix())(tau - f.bias())
    if not f.keep:
        model_forces = f.driving()
        additional = _split_by_link(f, tau)
        joint_forces = {k: model_forces[k] + additional[k] for k in model_forces}
        rates = recursions.articulated_body_accelerations(f.motion, f.wrenches(), joint_forces)
        return f.to_state_symbols(ca.vertcat(*[rates[id(link)] for link in f.links]))
    factor = Factor(f.jacobian()[f.keep, :], f.mass_matrix(), f.row_units())
    G, solve, over_mass = factor.read(factor.vector())
    free = over_mass(tau - f.bias())
    return free + over_mass(G.T @ solve(f.stack_rows("gamma")[f.keep] - G @ free))


QUANTITIES: dict[str, tuple[tuple[str, ...], Any]] = {  # by name: inputs, and the expression as a function of f
    "mass_matrix": (("q", "p"), lambda f: f.mass_matrix()),
    "coriolis": (("q", "v", "p"), coriolis),
    "gravity": (("t", "q", "p"), _gravity_forces),
    "inverse_dynamics": (("t", "q", "v", "a", "p"), lambda f, a: f.inverse_dynamics(a)),
    "forward_dynamics": (("t", "q", "v", "tau", "p"), _forward_dynamics),
    "body_jacobian": (("t", "q", "p"), jacobian),
}
