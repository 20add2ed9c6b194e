"""A tyre on a road: linear, or by the Magic Formula."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import casadi as ca

from ...elements import quantity
from ...elements.element import REQUIRED, Posed, fill_in
from ...elements.quantity import Axis, Number, Vector
from ...errors import ModelError
from ...registry import register
from ..base import Force, local_point
from ..contact_law import velocity_at
from ..motor import check_numbers
from .magic_formula import MagicFormula, TyreForces
from .tyre_file import coefficients, read_tyre_file

TINY_SQUARE = 1e-30  # added to squares whose root has a derivative
LINEAR_TYRE = ("radius", "stiffness", "slip_stiffness", "cornering_stiffness")  # what a tyre without a file needs


@register("tyre")
@dataclass(frozen=True, eq=False)
class Tyre(Force):
    """The forces of a road on a wheel that rolls on it, at one point of contact.

        F_z = max(0, k δ + c δ̇)                                                                            (1)
        κ = −V_sx/|V_x|,   tan α = V_sy/|V_x|,   V_sx = V_x − ω R_e                                          (2)
        F = f(κ, −tan α),   f(κ, s) = (C_κ κ, C_α s) / √(1 + |(C_κ κ, C_α s)|²/(μ F_z)²)                     (3)

    first, second   the road (a ground or a body), and the wheel
    axis      of the wheel, pointing to the left of the way it rolls, in the world, in the reference configuration
    center    of the wheel; default: its centre of mass
    tir       file with the coefficients of the Magic Formula (MF-Tyre 5.2 or 6.1); None: the linear tyre (3)
    radius    R₀ of the tyre without load                                                       [m]
    stiffness, damping      k and c of the tyre under load                                       [N/m, N s/m]
    slip_stiffness          C_κ                                                                 [N]
    cornering_stiffness     C_α                                                                 [N/rad]
    friction  μ; None: F_x and F_y of a linear tyre have no limit. With a file: a factor of its friction   [-]
    pressure  inflation pressure, where it is not that of the file                              [Pa]
    slow      below this speed slips fall short of (2), so that they have values where the wheel stands   [m/s]
    point, normal   of a plane road; default: z = 0 of the world
    height    z of the road as a function of x and y, such as a `ts.table`, in the axes of `first`; then there is no `normal`

    δ = R₀ − d with the distance d of the centre from the road in the plane of the wheel; x is the line of that plane and the road.
    R_e = R₀ − δ/3, or what the file says. See `magic_formula`.
    """

    drawing = "none"
    not_drawn = "a tyre, which the shape of its wheel shows"
    texts = ("tir",)
    variants = (
        {
            "axis": (0.1, 1, 0.2), "center": (1.0, -0.4, 0.6), "point": (0, 0, 0.1), "radius": 0.7,
            "stiffness": 50.0, "damping": 1.0, "slip_stiffness": 20.0, "cornering_stiffness": 15.0, "friction": 0.8, "slow": 0.3,
        },
        {
            "axis": (0.1, 1, 0.2), "radius": 0.9, "stiffness": 50.0, "slip_stiffness": 20.0, "cornering_stiffness": 15.0,
            "slow": 0.3, "height": lambda x, y: 0.1 * ca.sin(x) + 0.05 * y,
        },
    )  # fmt: skip
    first: Posed = REQUIRED
    second: Posed = REQUIRED
    axis: Axis = (0, 1, 0)
    center: Vector | None = None
    tir: str | None = None
    radius: Number | None = None
    stiffness: Number | None = None
    damping: Number = 0.0
    slip_stiffness: Number | None = None
    cornering_stiffness: Number | None = None
    friction: Number | None = None
    pressure: Number | None = None
    slow: Number = 0.1
    point: Vector = (0, 0, 0)
    normal: Axis = (0, 0, 1)
    height: Callable | Any = None
    arms: Any = field(default=None, repr=False)
    directions: Any = field(default=None, repr=False)
    formula: Any = field(default=None, repr=False)

    def attach(self) -> Self:
        if self.tir is not None and self.formula is None:
            self._read_file()
        if missing := [what for what in LINEAR_TYRE if getattr(self, what) is None and self.formula is None]:
            raise ModelError(f"{self.owner}: give {', '.join(missing)}, or a file of coefficients, tir=…")
        check_numbers(
            self,
            positive=("radius", "stiffness", "slip_stiffness", "cornering_stiffness", "friction", "pressure", "slow"),
            not_negative=("damping",),
        )
        if self.height is not None and not callable(self.height):
            raise ModelError(f"{self.owner}: height must be a function of x and y, got {quantity.show(self.height)}")
        if self.arms is None:
            a, n = (quantity.unit(getattr(self, what), what, self.owner) for what in ("axis", "normal"))
            fill_in(
                self,
                arms=(
                    local_point(self.first, self.point, self.owner),
                    local_point(self.second, self.center, self.owner, "center"),
                ),
                directions=tuple(
                    quantity.numbers_or(body.start_rotation.T @ x) for body, x in ((self.second, a), (self.first, n))
                ),
            )
        return self

    def _read_file(self):
        sections = read_tyre_file(self.tir, self.owner)
        found = coefficients(sections, str(self.tir), self.owner)
        fill_in(self, formula=found)
        if self.radius is None:
            fill_in(self, radius=found.UNLOADED_RADIUS)
        if self.stiffness is None:
            fill_in(self, stiffness=found.VERTICAL_STIFFNESS, damping=self.damping or found.VERTICAL_DAMPING)

    def _number(self, what):
        return quantity.scalar(getattr(self, what), what, self.owner)

    def road(self, center: ca.SX) -> tuple[ca.SX, ca.SX]:
        """A point of the road below the centre of the wheel, and the normal there."""
        road = self.first
        if self.height is None:
            n = road.rotation @ quantity.vector(self.directions[1], "normal", self.owner)
            return road.position + road.rotation @ quantity.vector(self.arms[0], "point", self.owner), n
        place = ca.SX.sym("place", 2)
        h = ca.SX(self.height(place[0], place[1]))
        local = road.rotation.T @ (center - road.position)
        values = ca.substitute([h, ca.jacobian(h, place)], [place], [local[:2]])
        z, slope = values
        n = ca.vertcat(-slope.T, 1) / ca.sqrt(1 + ca.sumsqr(slope))
        return road.position + road.rotation @ ca.vertcat(local[:2], z), road.rotation @ n

    def contact(self) -> "Contact":
        """Axes, point, deflection and velocities of the contact."""
        wheel = self.second
        a = wheel.rotation @ quantity.vector(self.directions[0], "axis", self.owner)
        center = wheel.position + wheel.rotation @ quantity.vector(self.arms[1], "center", self.owner)
        p, n = self.road(center)
        lean = ca.dot(a, n)
        upright = ca.sqrt(1 - lean**2 + TINY_SQUARE)
        x, radial = ca.cross(a, n) / upright, (n - lean * a) / upright
        d = ca.dot(center - p, n) / upright
        P = center - d * radial
        spin = wheel.rotation @ wheel.angular_velocity - self.first.rotation @ self.first.angular_velocity
        moving = (
            velocity_at(wheel, center) - velocity_at(self.first, P) + ca.cross(spin - ca.dot(spin, a) * a, P - center)
        )
        return Contact(
            P, x, ca.cross(n, x), n, ca.asin(lean), self._number("radius") - d, moving, ca.dot(spin, a), spin, upright
        )

    def load(self, contact: "Contact") -> ca.SX:
        """F_z, (1)."""
        rate = -ca.dot(contact.velocity, contact.normal) / contact.upright
        force = self._number("stiffness") * contact.deflection + self._number("damping") * rate
        return (contact.deflection > 0) * ca.fmax(force, 0)

    def rolling_radius(self, contact: "Contact") -> ca.SX:
        """R_e."""
        R0, deflection = self._number("radius"), ca.fmax(contact.deflection, 0)
        c = self.formula
        if c is None or not c.DREFF + c.FREFF:
            return R0 - deflection / 3
        unit = c.FNOMIN / self._number("stiffness")
        rho = deflection / unit
        return R0 - unit * (c.DREFF * ca.atan(c.BREFF * rho) + c.FREFF * rho)

    def slips(self, contact: "Contact") -> tuple[ca.SX, ca.SX, ca.SX]:
        """κ, tan α and V_x, (2)."""
        V_x, V_sy = ca.dot(contact.velocity, contact.forward), ca.dot(contact.velocity, contact.left)
        V_sx = V_x - contact.spin * self.rolling_radius(contact)
        speed = ca.sqrt(V_x**2 + self._number("slow") ** 2)
        return -V_sx / speed, V_sy / speed, V_x

    def forces(self, contact: "Contact") -> tuple[ca.SX, TyreForces]:
        """F_z, and the other forces and moments."""
        Fz = self.load(contact)
        kappa, tangent, V_x = self.slips(contact)
        if self.formula is None:
            along, across = self._number("slip_stiffness") * kappa, -self._number("cornering_stiffness") * tangent
            grip = ca.SX(1) if self.friction is None else self._number("friction") * Fz
            limit = (Fz > 0) * (
                1 if self.friction is None else grip / ca.sqrt(grip**2 + along**2 + across**2 + TINY_SQUARE)
            )
            return Fz, TyreForces(limit * along, limit * across, 0, 0, 0)  # (3)
        c = self.formula
        if self.friction is not None:
            mu = self._number("friction")
            c = type(c)({**vars(c), "LMUX": mu * c.LMUX, "LMUY": mu * c.LMUY}, c.version)
        pressure = None if self.pressure is None else self._number("pressure")
        formula = MagicFormula(c, Fz, kappa, tangent, contact.camber, V_x, pressure)
        found = formula.forces(V_x / ca.sqrt(V_x**2 + self._number("slow") ** 2))
        return Fz, TyreForces(*((Fz > 0) * x for x in found))

    def normal_force(self) -> ca.SX:
        """Signal: F_z."""
        return self.load(self.contact())

    def slip(self) -> ca.SX:
        """Signal: κ."""
        return self.slips(self.contact())[0]

    def slip_angle(self) -> ca.SX:
        """Signal: α   [rad]."""
        return ca.atan(self.slips(self.contact())[1])

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        contact = self.contact()
        Fz, found = self.forces(contact)
        force = found.Fx * contact.forward + found.Fy * contact.left + Fz * contact.normal
        relative = velocity_at(self.second, contact.point) - velocity_at(self.first, contact.point)
        if self.formula is None:
            return [(relative, force)]
        moment = found.Mx * contact.forward + found.My * contact.left + found.Mz * contact.normal
        return [(relative, force), (contact.turning, moment)]


@dataclass(frozen=True)
class Contact:
    """The contact of a wheel with the road, in world axes.

    camber      angle between the plane of the wheel and the normal   [rad]
    velocity    of the wheel at the point, without its spin, relative to the road
    spin        ω about the axis; turning: the whole relative angular velocity
    upright     cosine of the camber
    """

    point: ca.SX
    forward: ca.SX
    left: ca.SX
    normal: ca.SX
    camber: ca.SX
    deflection: ca.SX
    velocity: ca.SX
    spin: ca.SX
    turning: ca.SX
    upright: ca.SX
