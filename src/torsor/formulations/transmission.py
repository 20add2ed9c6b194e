"""What the connections of a tree transmit: wrenches through its joints, and those of the constraints that close loops."""

from typing import Any

import casadi as ca

from .base import Formulation
from .lie_derivative import parts, together


class Transmission(Formulation):
    """Reactions and multipliers of formulations in joint coordinates."""

    links: list
    _wrenches: Any = None

    def reaction(self, connection, lam, a):
        """Wrench through a tree joint: what all bodies beyond it need, less what is applied to them.

        F = Σ (m ẍ − f),   T = Σ (R (J ω̇ + ω × J ω) − R n + (x − p) × (m ẍ − f))                     (1)
        """
        link = self._carrier(connection)
        if link is None:
            return self.exerted(connection, lam)
        F, T = self._transmitted(lam)[id(link)]
        p = self.absolute.substitution.of(connection.ends()[1][1])
        sign = -1 if link.branch.reversed else 1
        return sign * F, sign * (T - ca.cross(p, F))

    def multiplier_of(self, constraint, lam, a):
        """λ of a constraint's rows; those of a tree joint, which has none here, from the wrench that it transmits:

        Gᵀ λ = W,     Gᵀ = Q U,     λ = U⁻¹ Qᵀ W                                                       (2)

        with G and the wrench W on the body that the joint carries; the rows of one joint are independent there.
        """
        link = self._carrier(constraint)
        block = self.absolute.block_of(constraint)
        if link is None or block is None:
            return super().multiplier_of(constraint, lam, a)
        body, (F, T) = link.body, self._transmitted(lam)[id(link)]
        W = together(F, body.rotation.T @ (T - ca.cross(body.position, F)))
        Q, U = ca.qr(ca.densify(block.G[block.bodies.index(body)].T))
        return ca.solve(ca.triu(U), Q.T @ W)  # (2)

    def _carrier(self, constraint):
        """The link that a tree joint carries; None for other constraints."""
        link = self.substitution.links.get(constraint.name)
        return link if link is not None and link.joint is constraint else None

    def _transmitted(self, lam):
        """Wrench that every tree joint hands on to its body and all beyond, about the world's origin: (1)."""
        if self._wrenches is None or self._wrenches[0] is not lam:
            found: dict = {}
            for link in reversed(self.links):
                body = link.body
                w, J = body.angular_velocity, body.inertia
                applied = self.absolute.loads.on[id(body)] + self.constraint_wrench(body, lam)
                force, torque = parts(applied)
                net = body.mass * body.acceleration - force
                spin = J @ body.angular_acceleration + ca.cross(w, J @ w) - torque
                F, T = found.get(id(link), (0, 0))
                F, T = F + net, T + body.rotation @ spin + ca.cross(body.position, net)
                found[id(link)] = (F, T)
                if link.parent is not None:
                    F0, T0 = found.get(id(link.parent), (0, 0))
                    found[id(link.parent)] = (F0 + F, T0 + T)
            self._wrenches = (lam, found)
        return self._wrenches[1]

    def constraint_wrench(self, body, lam):
        """Gᵀ λ on a body from all constraints that are not tree joints."""
        total = ca.SX.zeros(6)
        for block in self.absolute.blocks:
            own = self.kept_multipliers(block.constraint, lam) if body in block.bodies else None
            if own is not None:
                total += block.G[block.bodies.index(body)].T @ own
        return total
