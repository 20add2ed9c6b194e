"""What a formulation hands on. Anything above this line works with every formulation.

manifold                 group on which the configuration lives (blocks of Rᵏ, SO(3), SE(3))
q, v, p                  symbols of configuration, velocity, and parameters followed by turn counters
rows, keep               declared constraint rows, and which of them the kernels use
functions()              factor, accelerations, positions, velocities, turns: functions of flat vectors
examination()            residuals and Jacobian of all declared rows, for the start and the diagnosis
outputs(signals)         everything a result holds
"""

import casadi as ca

FUSED = 5000  # instructions up to which the parts of a stage become one kernel


class Formulation:
    """Base of all formulations: one class in one file."""

    kind = "formulation"

    def __init__(self, model):
        self.model = model

    def retractions(self, map):
        """The manifold's own kernels: a step along a group direction, plain and tidied, and the correction dexp⁻¹."""
        q, u = ca.SX.sym("q", self.manifold.size), ca.SX.sym("u", self.manifold.dimension)
        w = ca.SX.sym("w", self.manifold.dimension)
        moved = self.manifold.retract(q, u, map)
        return {
            "retract": ca.Function("retract", [q, u], [moved]),
            "advance": ca.Function("advance", [q, u], [self.manifold.tidy(moved)]),
            "differential": ca.Function("differential", [u, w], [self.manifold.dexp_inverse(u, w, map)]),
        }


def fused_stage(kernels):
    """A whole Runge–Kutta stage as one kernel: (t, q, u, v, p) → (k, v̇, power) at q · exp(u).

    Same equations, one graph: what passes between the parts stays in registers. Worth it for small models, where calls
    and memory cost as much as arithmetic; `None` for large ones, whose parts are compiled once and called in turn.
    """
    factor = kernels.get("factor_mass", kernels["factor"])
    accelerations = kernels["accelerations"]
    if factor.n_instructions() + accelerations.n_instructions() > FUSED:
        return None
    t, q, v, p = (ca.SX.sym(f"x{i}", *accelerations.size_in(i)) for i in range(4))
    u = ca.SX.sym("u", v.shape[0])
    moved = kernels["retract"](q, u)
    a, _, power = accelerations(t, moved, v, p, factor(t, moved, p))
    return shared(ca.Function("stage", [t, q, u, v, p], [kernels["differential"](u, v), a, power]))


def shared(f):
    """The same function with common subexpressions computed once."""
    return ca.Function(f.name(), f.sx_in(), ca.cse(f.call(f.sx_in())))
