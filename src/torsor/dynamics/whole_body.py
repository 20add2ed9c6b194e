"""Quantities of a whole mechanism: centre of mass, centroidal momentum, and the regressor of inverse dynamics.

    m x = Σ mᵢ xᵢ,      m ẋ = Σ mᵢ ẋᵢ = m J v                                                              (1)
    h = (Σ mᵢ ẋᵢ, Σ Rᵢ Θᵢ ωᵢ + (xᵢ − x) × mᵢ ẋᵢ) = A v                                                    (2)
    M v̇ + C v + g = Y π,    Y = Σ Jᵢᵀ Yᵢ                                                                   (3)
    Yᵢ πᵢ = (m a + ω̇ × c + ω × (ω × c),  I ω̇ + ω × I ω + c × a)                                           (4)

x     centre of mass of all bodies [m];  h: momentum and angular momentum about x, in world axes [kg m/s, kg m²/s]
πᵢ    inertial parameters of body i: m, first moments c = m r (3), inertia about the origin of the body's frame
      I_xx, I_yy, I_zz, I_xy, I_xz, I_yz, all in the axes of the body's frame
a     acceleration of the origin of the body's frame minus gravity, in the body's axes;  Jᵢ: Jacobian of that frame, in its own axes
"""

from typing import NamedTuple

import casadi as ca
import numpy as np

from ..elements import quantity
from ..elements.quantity import time
from .frame_motion import time_derivative
from .joint_space_matrices import require_joint_coordinates

PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
DEPENDENT_BELOW = 1e-9  # remaining length of a column of unit length below which it depends on the columns before


class WholeBody:
    """Symbols of the motion of all bodies in a formulation with joint coordinates."""

    def __init__(self, f):
        require_joint_coordinates(f)
        self.f = f
        self.bodies = [(body, *f.motion.body(f.link_of[id(body)])) for body in f.model.bodies]
        self.mass = sum(body.mass for body in f.model.bodies)

    def center_of_mass(self):
        """x of (1)."""
        return sum(body.mass * x for body, x, *_ in self.bodies) / self.mass

    def _velocity(self):
        return sum(body.mass * v for body, _, _, v, _ in self.bodies) / self.mass

    def center_of_mass_jacobian(self):
        """J of (1)."""
        return ca.jacobian(self._velocity(), self.f.v)

    def centroidal_momentum(self):
        """h of (2)."""
        center = self.center_of_mass()
        angular = sum(R @ (body.inertia @ w) + ca.cross(x - center, body.mass * v) for body, x, R, v, w in self.bodies)
        return ca.vertcat(self.mass * self._velocity(), angular)

    def centroidal_matrix(self):
        """A of (2)."""
        return ca.jacobian(self.centroidal_momentum(), self.f.v)

    def regressor(self, a):
        """Y of (3) for accelerations a."""
        return ca.horzcat(*[self._regressor_of(a, *body) for body in self.bodies])

    def _regressor_of(self, a, body, x, R, velocity, w):
        f = self.f
        origin_velocity = velocity - R @ ca.cross(w, body.center)
        twist = ca.densify(ca.vertcat(origin_velocity, w))
        J = ca.densify(ca.jacobian(twist, f.v))
        acceleration = J @ a + time_derivative(f, twist)
        pull = R.T @ (acceleration[:3] - f.model.gravity)
        spin = acceleration[3:]
        none = ca.SX.zeros(3)
        force = ca.horzcat(pull, ca.skew(spin) + ca.skew(w) @ ca.skew(w), ca.SX.zeros(3, 6))
        torque = ca.horzcat(none, -ca.skew(pull), symmetric_times(spin) + ca.skew(w) @ symmetric_times(w))
        return (R.T @ J[:3, :]).T @ force + J[3:, :].T @ torque  # (3), (4)


def symmetric_times(u):
    """L with I u = L (I_xx, I_yy, I_zz, I_xy, I_xz, I_yz)."""
    x, y, z = ca.vertsplit(ca.SX(u))
    zero = ca.SX(0)
    rows = [(x, zero, zero, y, z, zero), (zero, y, zero, x, zero, z), (zero, zero, z, zero, x, y)]
    return ca.vertcat(*[ca.horzcat(*row) for row in rows])


def inertial_parameters(model, values=None):
    """π of all bodies, ten numbers each in the order of `PARAMETERS`."""
    found = []
    for body in model.bodies:
        m = float(quantity.numbers(ca.SX(body.mass), values).item())
        r = np.array(quantity.numbers(ca.SX(body.center), values)).ravel()
        I = np.array(quantity.numbers(ca.SX(body.inertia), values)) + m * (r @ r * np.eye(3) - np.outer(r, r))
        found.append([m, *(m * r), I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
    return np.array(found).ravel()


class BaseParameters(NamedTuple):
    """Linear combinations of inertial parameters that inverse dynamics depends on, and no others: the base parameters B π.

    independent   names of as many inertial parameters as there are base parameters, as "body.m"
    B             matrix of the base parameters B π; its columns of the independent ones are an identity matrix
    columns       indices of the independent ones in π: Y π = Y[:, columns] B π
    """

    independent: list[str]
    B: np.ndarray
    columns: np.ndarray


def base_parameters(names, Y):
    """The base parameters of stacked regressors, by a QR factorisation with the earliest independent columns as pivots."""
    size = np.linalg.norm(Y, axis=0)
    scaled = Y / np.where(size > 0, size, 1.0)
    columns: list[int] = []
    Q = np.zeros((len(Y), 0))
    for k in range(Y.shape[1]):
        rest = scaled[:, k]
        for _ in range(2):  # the second pass removes the rounding errors of the first
            rest = rest - Q @ (Q.T @ rest)
        if (length := np.linalg.norm(rest)) > DEPENDENT_BELOW:
            columns.append(k)
            Q = np.column_stack([Q, rest / length])
    chosen = np.array(columns, int)
    B = np.linalg.lstsq(scaled[:, chosen], scaled, rcond=None)[0] * size / size[chosen][:, None]
    B[np.abs(B) < DEPENDENT_BELOW] = 0.0
    return BaseParameters([names[k] for k in columns], B, chosen)


def function(f, name):
    """The CasADi function of one quantity, by name."""
    a = ca.SX.sym("a", f.v.shape[0])
    whole = WholeBody(f)
    result = whole.regressor(a) if name == "regressor" else getattr(whole, name)()
    symbols = {"t": time, "q": f.q, "v": f.v, "p": f.p, "a": a}
    return ca.Function(name, [symbols[x] for x in QUANTITIES[name].split()], [ca.densify(ca.vec(result))])


QUANTITIES = {
    "center_of_mass": "t q p",
    "center_of_mass_jacobian": "t q p",
    "centroidal_momentum": "t q v p",
    "centroidal_matrix": "t q p",
    "regressor": "t q v a p",
}
