"""Forces of the medium in MJCF files (options density, viscosity and wind): MuJoCo's model of equivalent boxes.

    rᵢ² = 3/(2 m) (Iⱼ + Iₖ − Iᵢ)                              half edges of the box with the inertia of a body     (1)
    Fᵢ = −6π β r u_i − 2 ϱ rⱼ rₖ |uᵢ| uᵢ                      r: mean of the half edges                            (2)
    Tᵢ = −8π β r³ ωᵢ − ½ ϱ rᵢ (rⱼ⁴ + rₖ⁴) |ωᵢ| ωᵢ                                                                 (3)

u and ω are the velocity of a link's centre of mass against the wind and its angular velocity, in its principal axes.
"""

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ...elements.element import REQUIRED
from ...forces import Force
from ..free_names import free_name, legal

SMALLEST = 1e-15  # mass without a box, and the least of a squared edge times mass, as in MuJoCo


@dataclass(frozen=True, eq=False)
class MediumForce(Force):
    """Resistance of a medium to one link of a body.

    arm, axes   the link's centre of mass and principal axes, in the body's frame
    linear      of (2): factors of u and of |u| u
    angular     of (3): factors of ω and of |ω| ω
    wind        velocity of the medium, in world axes
    """

    drawing = "none"
    not_drawn = "the medium is everywhere"
    body: Any = REQUIRED
    arm: tuple[float, ...] = (0.0, 0.0, 0.0)
    axes: Any = None
    linear: Any = ()
    angular: Any = ()
    wind: tuple[float, ...] = (0.0, 0.0, 0.0)

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        body, R = self.body, ca.DM(np.array(self.axes))
        velocity, turning = body.velocity_of(self.arm), body.angular_velocity
        u = R.T @ body.rotation.T @ (velocity - self.world.rotation @ ca.DM(list(self.wind)))
        force = body.rotation @ R @ resistance(self.linear, u)  # (2)
        return [(velocity, force), (turning, R @ resistance(self.angular, R.T @ turning))]  # (3)


def resistance(factors, u):
    slow, fast = (ca.DM(list(x)) for x in factors)
    return -(slow * u + fast * ca.fabs(u) * u)


def add_medium(reader, imported):
    """Add the forces of the medium; those of ellipsoids are reported."""
    m, option = reader.m, reader.m.opt
    still = reader.off("PASSIVE") or reader.off("SPRING") and reader.off("DAMPER")
    if still or not (option.density or option.viscosity):
        return
    shaped = {int(m.geom_bodyid[g]) for g in range(m.ngeom) if m.geom_fluid[g][0]}
    for k in range(1, m.nbody):
        home = imported.links.get(reader.prefix + reader.bodies[k])
        if home is None or home.body == "ground" or m.body_mass[k] < SMALLEST:
            continue
        if k in shaped:
            where = reader._where(reader.spec.bodies, k)
            message = "forces of the medium on ellipsoids are not simulated"
            reader.out.note("ignored", f"fluidshape of body {reader.prefix + reader.bodies[k]!r}", message, where)
            continue
        linear, angular = factors_of(float(m.body_mass[k]), m.body_inertia[k], option.density, option.viscosity)
        arm = home.at + home.rotation @ m.body_ipos[k]
        axes = home.rotation @ reader._matrix(m.body_iquat[k])
        name = free_name(imported.model, f"{legal(reader.prefix + reader.bodies[k])}_medium", "force")
        given = {"arm": tuple(arm.tolist()), "axes": axes.tolist(), "wind": tuple(option.wind.tolist())}
        imported.model.add(MediumForce(name, imported.model[home.body], linear=linear, angular=angular, **given))


def factors_of(mass, inertia, density, viscosity):
    """Factors of (2) and (3)."""
    r = np.sqrt(1.5 * np.maximum(SMALLEST, inertia.sum() - 2 * inertia) / mass)  # (1)
    mean, others = r.mean(), [np.delete(r, k) for k in range(3)]
    linear = [6 * np.pi * viscosity * mean] * 3, [2 * density * x[0] * x[1] for x in others]
    angular = [8 * np.pi * viscosity * mean**3] * 3, [density * a * (x**4).sum() / 2 for a, x in zip(r, others)]
    return tuple(tuple(map(float, x)) for x in linear), tuple(tuple(map(float, x)) for x in angular)
