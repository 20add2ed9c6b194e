"""Inertia of rotors along joint coordinates: the `armature` of joints, and the rotors of motors.

A rotor that turns r times as fast as a joint adds A = r² I to the inertia along the coordinate, and nothing to the bodies:

    T = ½ uᵀ A u,        u = J v + u_t                     rates of the joint coordinates                 (1)
    u̇ = J v̇ + u̇₀                                          u̇₀: rate of u at constant v                   (2)
    f = Jᵀ μ,            μ = −A (u̇ + k)                    force on the motion v                          (3)
    M = M_b + Jᵀ A J                                                                                      (4)

k = ω × u in the three translations of a joint whose velocities are those of a rigid motion in its own axes, else 0.

With E = √A J, the product M⁻¹ b follows from the block-diagonal M_b, without filling it:

    m = √A⁻¹ μ:          E v̇ + m = −√A (u̇₀ + k)           a row of the system with the compliance 1      (5)
    M⁻¹ b = W b − W Eᵀ (1 + E W Eᵀ)⁻¹ E W b,               W = M_b⁻¹                                      (6)
"""

import casadi as ca

from ...elements import quantity
from ...errors import ModelError
from ...lie import se3
from .factorisation import ldl_solver, sparse_ldl
from .lie_derivative import rate, velocities
from .tree_kinematics import motion_group


def armature_of(joint):
    """A of a joint, its armature and the rotors of its motors, one entry for each coordinate; None if it has none."""
    given = joint.armature
    motors = {} if joint._home is None else rotors_of_motors(joint._home)
    if id(joint) not in motors and given is None:
        return None
    A = ca.SX.zeros(joint.dof)
    if given is not None:
        shape = quantity.shape_of(given)
        A += quantity.expression(given, shape[0], shape[1], "armature", joint.owner)
    for index, inertia in motors.get(id(joint), ()):
        A[index] += inertia
    return A


def rotors_of_motors(model):
    """Inertias of the rotors of forces, as pairs (index of the coordinate, inertia), by the identity of the joint."""
    if "rotors" not in model.derived:
        found: dict = {}
        for force in model.forces:
            for joint, index, inertia in force.rotors() if model.may_act(force) else ():
                found.setdefault(id(joint), []).append((index, inertia))
        model.derived["rotors"] = found
    return model.derived["rotors"]


class RotorInertia:
    """The rotors of a model in symbols of the bodies.

    joints   the joints with an armature
    A        inertias, one entry for each coordinate
    u        rates of the coordinates
    """

    def __init__(self, model, substitution, joints=None):
        self.model, self.substitution = model, substitution
        self.joints = [j for j in model.joints if armature_of(j) is not None] if joints is None else joints
        switched = {id(element) for element in model.switched_elements} if self.joints else set()
        for joint in self.joints:
            if id(joint) in switched:
                raise ModelError(
                    f"{joint.owner}: events engage or release it, so that nothing would carry the rotor of its armature or "
                    "motor; leave out armature and inertia, or give the rotor a body of its own"
                )
        self.A = ca.vertcat(ca.SX(0, 1), *[armature_of(j) for j in self.joints])
        rates = [substitution.rates(j) for j in self.joints]
        self.u = ca.vertcat(ca.SX(0, 1), *rates)

    def __bool__(self):
        return bool(self.joints)

    def turning_matrix(self):
        """K with k = K u: (3)."""
        blocks, start = [], 0
        for joint in self.joints:
            block = ca.SX(joint.dof, joint.dof)
            if motion_group(joint).free:
                w, _ = se3.split(self.u[start : start + joint.dof])
                _, linear = se3.split(ca.SX.eye(joint.dof))
                block = ca.sparsify(se3.twist(angular=ca.SX(3, joint.dof), linear=ca.skew(w) @ linear))
            blocks.append(block)
            start += joint.dof
        return ca.diagcat(*blocks, ca.SX(0, 0))

    def energy(self):
        """T: (1)."""
        return ca.dot(self.A, self.u**2) / 2

    def rate_at_constant_velocities(self):
        """u̇₀ + k: (2), (3)."""
        bodies = self.substitution.bodies(self.u)
        return rate(self.u, bodies, self.substitution.states(self.u)) + self.turning_matrix() @ self.u

    def jacobian(self, v):
        """J, sparse, of velocities v of all bodies."""
        return ca.sparsify(ca.jacobian(self.u, v))

    def scaled_jacobian(self, v):
        """E, sparse: (5)."""
        return ca.sparsify(ca.diag(ca.sqrt(self.A)) @ self.jacobian(v))

    def scaled_rate(self):
        """−√A (u̇₀ + k): (5)."""
        return -ca.sqrt(self.A) * self.rate_at_constant_velocities()

    def efforts(self):
        """μ in symbols of the bodies, accelerations included: (3)."""
        total = self.rate_at_constant_velocities()
        for body in self.substitution.bodies(self.u):
            a = body.acceleration if body.particle else ca.vertcat(body.acceleration, body.angular_acceleration)
            total += ca.jacobian(self.u, velocities(body)) @ a
        return -self.A * total

    def wrenches(self):
        """Jᵀ μ on each body that a rotor acts on, by identity."""
        mu = self.efforts()
        return {id(body): ca.jacobian(self.u, velocities(body)).T @ mu for body in self.substitution.bodies(self.u)}

    def imposed_rates(self, v):
        """u_t of (1): the rates with all bodies at rest."""
        return ca.sparsify(ca.substitute(self.u, v, ca.SX.zeros(v.shape)))


def inverse_product(W, E):
    """A function b → M⁻¹ b: (6)."""
    if not E.shape[0]:
        return lambda b: W @ b
    pivots, LT, order = sparse_ldl(ca.sparsify(ca.SX.eye(E.shape[0]) + E @ W @ E.T))
    solve = ldl_solver(LT + ca.SX.eye(E.shape[0]), 1 / pivots, order)

    def product(b):
        x = W @ b
        return x - W @ (E.T @ solve(E @ x))

    return product
