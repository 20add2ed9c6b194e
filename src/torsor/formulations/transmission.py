"""Reactions in joint coordinates: wrenches through tree joints, and those of the constraints that close loops."""

from typing import Any

import casadi as ca

from .algebra.lie_derivative import split_linear_angular, stack_linear_angular
from .base import Formulation


class Transmission(Formulation):
    """Reactions and multipliers of formulations in joint coordinates."""

    links: list
    _wrenches: Any = None  # (λ, joint wrenches for it), kept between calls

    def reaction(self, connection, lam, a):
        """Wrench through a tree joint: the inertia wrenches of all bodies beyond it, less the applied ones.

        F = Σ (m ẍ − f),   T = Σ (R (J ω̇ + ω × J ω) − R n + (x − p) × (m ẍ − f))                     (1)
        """
        link = self._tree_link(connection)
        if link is None:
            return self.reaction_from_rows(connection, lam)
        F, T = self._joint_wrenches(lam)[id(link)]
        p = self.absolute.substitution.of(connection.ends()[1][1])
        sign = -1 if link.branch.reversed else 1
        return sign * F, sign * (T - ca.cross(p, F))

    def multiplier_of(self, constraint, lam, a):
        """λ of a constraint's rows. A tree joint has no rows here; its λ follow from the wrench that it transmits:

        Gᵀ λ = W,     Gᵀ = Q U,     λ = U⁻¹ Qᵀ W                                                       (2)

        G are the joint's columns for its outer body, and W is the wrench on that body. The rows of one joint are independent.
        """
        link = self._tree_link(constraint)
        block = self.absolute.block_of(constraint)
        if link is None or block is None:
            return super().multiplier_of(constraint, lam, a)
        body = link.body
        F, T = self._joint_wrenches(lam)[id(link)]
        W = stack_linear_angular(F, body.rotation.T @ (T - ca.cross(body.position, F)))
        Q, U = ca.qr(ca.densify(block.G[block.bodies.index(body)].T))
        return ca.solve(ca.triu(U), Q.T @ W)  # (2)

    def _tree_link(self, constraint):
        """The link of a tree joint; None for other constraints."""
        link = self.substitution.links.get(constraint.name)
        return link if link is not None and link.joint is constraint else None

    def _joint_wrenches(self, lam):
        """Wrench of every tree joint on its body and all bodies beyond it, about the world's origin, by link: (1)."""
        if self._wrenches is None or self._wrenches[0] is not lam:
            wrenches: dict = {}
            of_rotors = self.absolute.rotors.wrenches() if self.absolute.rotors else {}
            for link in reversed(self.links):
                body = link.body
                w, J = body.angular_velocity, body.inertia
                applied = self.absolute.loads.on[id(body)] + self.constraint_wrench(body, lam)
                force, torque = split_linear_angular(applied + of_rotors.get(id(body), 0))
                net_force = body.mass * body.acceleration - force
                net_torque = J @ body.angular_acceleration + ca.cross(w, J @ w) - torque
                F, T = wrenches.get(id(link), (0, 0))
                F = F + net_force
                T = T + body.rotation @ net_torque + ca.cross(body.position, net_force)
                wrenches[id(link)] = (F, T)
                if link.parent is not None:
                    F0, T0 = wrenches.get(id(link.parent), (0, 0))
                    wrenches[id(link.parent)] = (F0 + F, T0 + T)
            self._wrenches = (lam, wrenches)
        return self._wrenches[1]

    def constraint_wrench(self, body, lam):
        """Gᵀ λ on a body from all constraints that are not tree joints."""
        total = ca.SX.zeros(6)
        for block in self.absolute.blocks:
            own = self.kept_multipliers(block.constraint, lam) if body in block.bodies else None
            if own is not None:
                total += block.G[block.bodies.index(body)].T @ own
        return total
