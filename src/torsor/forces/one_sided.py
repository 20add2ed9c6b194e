"""Any expression that must not become negative."""

from dataclasses import dataclass, field
from typing import Any, Self

import casadi as ca

from ..constraints.unilateral import Unilateral
from ..elements import quantity
from ..elements.element import CONSTANT, REQUIRED, VELOCITY_LEVEL, Statement, fill_in
from ..elements.quantity import Number
from ..errors import ModelError
from ..joints.alignment import normals
from ..registry import register
from .friction import Friction


@register("one-sided")
@dataclass(frozen=True, eq=False)
class OneSided(Unilateral):
    """An expression of positions, joint coordinates and time that must not become negative: a wall, a dome, a rope, a stop.

        g(x, R, t) ≥ 0,      λ ≥ 0,      g λ = 0                       (1)
        f = −μ N u/|u|,      N = λ |∂g/∂x|                             (2)

    expression    g, or a comparison: `a >= b` stands for a − b, `a <= b` for b − a. Where it is a distance [m], its multiplier λ
                  is the normal force N [N]
    restitution   speed of g after an impact over the speed before it, 0 to 1
    friction      μ of sliding, a number or an expression of signals; None: no friction                          [-]
    static        μ_s of sticking, not below μ; None: μ                                                          [-]
    sliding       u, the velocity with which the surfaces slide on each other, one or two expressions that are linear in
                  velocities; N = λ then. None: g is the height of a body's centre of mass over a plane, and u is the velocity of
                  the centre along the plane; anything else that has friction needs it. A `ts.Friction` can act on it, too  [m/s]

    Friction is an element of its own, `name.friction`, with its events `stick` and `slide`. [pfeiffer1996]
    """

    drawing = "none"
    not_drawn = "an expression that must not become negative, which has no place"
    variants = (
        lambda scene: {"expression": scene["second"].point((0, 0, 1))[2] + 3.0, "restitution": 0.4},
        lambda scene: {"expression": ca.norm_2(scene["second"].position - scene["first"].position) >= 0.2},
        lambda scene: {"expression": 2 * scene["second"].position[1] + 5.0, "friction": 0.3, "static": 0.4},
        lambda scene: {
            "expression": scene["joint"].coordinate[0] + 2.0,
            "friction": 0.3,
            "sliding": scene["second"].velocity[:2],
        },
    )
    expression: Any = REQUIRED
    sliding: Any = field(default=None, kw_only=True)
    friction: Number | None = field(default=None, kw_only=True)
    static: Number | None = field(default=None, kw_only=True)
    scale: Any = field(default=None, kw_only=True, repr=False)  # normal force over the multiplier, once it is added

    def __post_init__(self):
        super().__post_init__()
        fill_in(self, expression=self._gap())
        if self.scale is not None and not isinstance(self.scale, ca.SX):
            raise ModelError(f"{self.owner}: scale is worked out when it is added; leave it out")
        if self.sliding is not None:
            u = quantity.column(self.sliding, "sliding", self.owner)
            if u.shape[0] > 2:
                raise ModelError(
                    f"{self.owner}: sliding must be one or two velocities along the surface, got {u.shape[0]}"
                )
            fill_in(self, sliding=u)

    def _gap(self):
        """The expression that must not become negative."""
        given = self.expression
        if not isinstance(given, ca.SX) or given.shape != (1, 1):
            raise ModelError(
                f"{self.owner}: expression must be one signal that must not become negative, such as body.position[2] - 0.1 or "
                f"body.position[2] >= 0.1, got {quantity.show(given)}; several surfaces are several elements"
            )
        compared = not given.is_constant() and not given.is_symbolic()
        if compared and given.op() in (ca.OP_LE, ca.OP_LT):
            return given.dep(1) - given.dep(0)
        if compared and given.op() in (ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR, ca.OP_NOT):
            raise ModelError(f"{self.owner}: expression must be a signal or one comparison with >= or <=, got {given}")
        return given

    def attach(self) -> Self:
        if self.friction is None and self.static is not None:
            raise ModelError(f"{self.owner}: `static` is given without `friction`")
        if self.friction is not None and self.sliding is None:
            self._slide_on_plane()
        if self.sliding is not None:
            self._check_sliding()
        return fill_in(self, scale=ca.SX(1)) if self.scale is None else self

    def _check_sliding(self):
        """Refuse `sliding` that is no velocity."""
        rates = ca.vertcat(*[s for s in ca.symvar(self.sliding) if self._home.kind_of(s) == "velocity"], ca.SX(0, 1))
        slopes = ca.jacobian(self.sliding, rates)
        still = any(slopes[k, :].nnz() == 0 for k in range(self.sliding_parts))
        if still or ca.depends_on(ca.vec(slopes), rates):
            raise ModelError(
                f"{self.owner}: sliding must be one or two expressions that are linear in velocities, such as body.velocity[:2] or "
                f"joint.rate, got {quantity.show(self.sliding)}"
            )

    def _slide_on_plane(self):
        """Sliding of a centre of mass on a plane, where the expression is its height."""
        bodies = [body for body in self._home.bodies if ca.depends_on(self.expression, body.position)]
        normal = ca.jacobian(self.expression, bodies[0].position).T if len(bodies) == 1 else ca.SX.zeros(3)
        known = {s.element_hash() for body in bodies for s in ca.symvar(body.position)}
        moving = [s for s in ca.symvar(self.expression) if self._home.kind_of(s) in ("pose", "state")]
        fixed = all(self._home.kind_of(s) == "parameter" for s in ca.symvar(normal))
        if len(bodies) != 1 or not fixed or any(s.element_hash() not in known for s in moving):
            raise ModelError(
                f"{self.owner}: friction needs `sliding`, the velocity with which the surfaces slide on each other (one or two "
                "expressions, such as body.velocity_of(point)[:2]): it follows from the expression only where that is the height "
                "of a centre of mass over a plane"
            )
        size = ca.sqrt(ca.sumsqr(normal))
        along = [ca.dot(tangent, bodies[0].velocity) for tangent in normals(normal / size)]
        fill_in(self, sliding=ca.vertcat(*along), scale=size)

    def statements(self) -> list[Statement]:
        found = super().statements()
        if self.sliding is not None:
            found.append(Statement("sliding", self.sliding, VELOCITY_LEVEL))
        return [*found, Statement("its scale", ca.SX(self.scale), CONSTANT)]

    def gaps(self) -> list[ca.SX]:
        return [self.expression]  # (1)

    def directions(self) -> list[str]:
        return ["expression"]

    def companions(self) -> list[Any]:
        if self.friction is None:
            return []
        return [Friction(f"{self.name}.friction", self, coefficient=self.friction, static=self.static)]  # (2)

    @property
    def sliding_parts(self) -> int:
        return 0 if self.sliding is None else self.sliding.shape[0]

    def sliding_velocity(self) -> ca.SX:
        return self.sliding

    def normal_scale(self) -> ca.SX:
        return ca.SX(self.scale)

    def load(self) -> ca.SX:
        return self.scale * self.multiplier[0]

    def violation(self, side: str, verb: str, depth: float) -> str:
        return f"{self.owner} {verb} {depth:.3g} below zero"
