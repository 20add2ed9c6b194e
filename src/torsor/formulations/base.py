"""What a formulation hands on. Anything above this line works with every formulation.

manifold                 group on which the configuration lives (blocks of Rᵏ, SO(3), SE(3))
q, v, p                  symbols of configuration, velocity, and parameters followed by turn counters
rows, keep               declared constraint rows, and which of them the kernels use
functions()              factor, accelerations, positions, velocities, turns: functions of flat vectors
examination()            residuals and Jacobian of all declared rows, for the start and the diagnosis
outputs(signals)         everything a result holds
"""

import casadi as ca


class Formulation:
    """Base of all formulations: one class in one file."""

    kind = "formulation"

    def __init__(self, model):
        self.model = model

    def retractions(self, map):
        """The manifold's own kernels: one step along a group direction, and the correction dexp⁻¹."""
        q, u = ca.SX.sym("q", self.manifold.size), ca.SX.sym("u", self.manifold.dimension)
        w = ca.SX.sym("w", self.manifold.dimension)
        moved = self.manifold.retract(q, u, map)
        return {
            "retract": ca.Function("retract", [q, u], [moved]),
            "tidy": ca.Function("tidy", [q], [self.manifold.tidy(q)]),
            "differential": ca.Function("differential", [u, w], [self.manifold.dexp_inverse(u, w, map)]),
        }
