"""Tendons of MJCF files: fixed ones, and spatial ones that run straight from site to site.

l = Σ cₖ q_k,file                          fixed                                                       (1)
l = Σ |xₖ₊₁ − xₖ| / d                      spatial: between sites, d the divisor of the pulley before   (2)
0 = l − l_r − Σ aₖ (l' − l'_r)ᵏ               equality of two tendons, l_r: in the reference configuration (4)
U = ½ k (l − l₀)², where l is outside the range of rest lengths; D = ½ c l̇²           (3)
"""

from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca

from ...constraints.elementary import Holonomic
from ...elements import quantity
from ...elements.quantity import Number
from ...forces import Force
from ...forces.loads_and_springs import EnergyForce
from ..free_names import free_name, legal

SHORTEST = 1e-12  # square of the length of a segment below which it has no direction [m²]


class Length(NamedTuple):
    """A length and its rate as expressions of signals."""

    length: ca.SX
    rate: ca.SX


@dataclass(frozen=True, eq=False)
class LengthForce(Force):
    """A force f along a length l: its power is f l̇.

    rate    l̇, an expression that is linear in the velocities   [m/s or rad/s]
    value   f   [N or N m]
    """

    drawing = "none"
    not_drawn = "an expression of signals, which has no place"
    rate: Number = 0.0
    value: Number = 0.0

    def efforts(self) -> list[tuple[ca.SX, ca.SX]]:
        rate, value = (quantity.scalar(getattr(self, what), what, self.owner) for what in ("rate", "value"))
        return [(rate, value)]


def tendon_lengths(reader, imported):
    """Lengths of the tendons by number; None for those that torsor cannot express, which are reported."""
    return {k: tendon_length(reader, imported, k) for k in range(reader.m.ntendon)}


def tendon_length(reader, imported, k):
    m, mj = reader.m, reader.mj
    first = int(m.tendon_adr[k])
    parts = range(first, first + int(m.tendon_num[k]))
    kinds = {int(m.wrap_type[i]) for i in parts}
    if kinds == {int(mj.mjtWrap.mjWRAP_JOINT)}:
        return fixed_length(reader, imported, parts)
    if kinds <= {int(mj.mjtWrap.mjWRAP_SITE), int(mj.mjtWrap.mjWRAP_PULLEY)}:
        return spatial_length(reader, imported, parts)
    return None


def fixed_length(reader, imported, parts):
    """(1); joints that do not move add a constant."""
    m = reader.m
    length, rate = ca.SX(0), ca.SX(0)
    for i in parts:
        number, c = int(m.wrap_objid[i]), float(m.wrap_prm[i])
        ref = float(m.qpos0[m.jnt_qposadr[number]])
        joint = imported.joints.get(reader.joints[number])
        if joint is not None and joint.coordinate is None:
            return None
        length += c * ref
        if joint is not None:
            length += c * joint.coordinate
            rate += c * joint.rate
    return Length(length, rate)


def spatial_length(reader, imported, parts):
    """(2)."""
    m, mj = reader.m, reader.mj
    length, rate, divisor, before = ca.SX(0), ca.SX(0), 1.0, None
    for i in parts:
        if int(m.wrap_type[i]) == int(mj.mjtWrap.mjWRAP_PULLEY):
            divisor, before = float(m.wrap_prm[i]), None
            continue
        site = imported.sites.get(reader.site_name(int(m.wrap_objid[i])))
        if site is None:
            return None
        body = imported.model[site.body]
        here = body.point(site.at), body.velocity_of(site.at)
        if before is not None:
            d, u = here[0] - before[0], here[1] - before[1]
            segment = ca.sqrt(ca.fmax(ca.sumsqr(d), SHORTEST))
            length += segment / divisor
            rate += ca.dot(d, u) / segment / divisor
        before = here
    return Length(length, rate)


def add_tendons(reader, imported, lengths):
    """Springs and dampers of the tendons (3), and notes of what is not simulated."""
    m, out = reader.m, reader.out
    passive = not reader.off("PASSIVE")
    for k, length in lengths.items():
        name = m.tendon(k).name or f"tendon_{k}"
        where = reader._where(reader.spec.tendons, k)
        if length is None:
            message = "its path over geoms, or along joints without coordinates, is not simulated"
            out.note("unsupported", f"tendon {name!r}", message, where)
            continue
        stiffness = 0.0 if reader.off("SPRING") or not passive else float(m.tendon_stiffness[k])
        damping = 0.0 if reader.off("DAMPER") or not passive else float(m.tendon_damping[k])
        low, high = (float(x) for x in m.tendon_lengthspring[k])
        if stiffness or damping:
            over = length.length - ca.fmin(ca.fmax(length.length, low), high)
            given = free_name(imported.model, f"{legal(name) or f'tendon_{k}'}_spring", "force")
            imported.model.add(
                EnergyForce(given, energy=0.5 * stiffness * over**2, dissipated=0.5 * damping * length.rate**2)
            )
        note_left_out(reader, k, name, where)


def tie_tendons(reader, imported, lengths):
    """Equality constraints of tendons: (4)."""
    for name, first, second, coefficients, where in reader.tied_tendons:
        several = [(lengths[k], float(reader.m.tendon_length0[k])) for k in (first, second) if k >= 0]
        if any(length is None for length, _ in several):
            reader.out.note("unsupported", f"equality {name!r}", "its tendon is not simulated", where)
            continue
        y, *x = [length.length - rest for length, rest in several]
        polynomial = sum(a * (x[0] if x else ca.SX(0)) ** k for k, a in enumerate(coefficients) if k == 0 or a)
        given = free_name(imported.model, legal(reader.prefix + name) or "equality", "constraint")
        imported.model.add(Holonomic(given, y - polynomial))


def note_left_out(reader, k, name, where):
    m = reader.m
    left_out = {
        "range": m.tendon_limited[k] and reader.acts("LIMIT"),
        "frictionloss": m.tendon_frictionloss[k] and reader.acts("FRICTIONLOSS"),
        "armature": hasattr(m, "tendon_armature") and m.tendon_armature[k],
    }
    for what, given in left_out.items():
        if given:
            reader.out.note("ignored", f"{what} of tendon {name!r}", "not simulated", where)
    curved = [getattr(m, a)[k] for a in ("tendon_stiffnesspoly", "tendon_dampingpoly") if hasattr(m, a)]
    if any(x.any() for x in curved):
        message = "only the linear part is simulated"
        reader.out.note("approximated", f"stiffness or damping of tendon {name!r}", message, where)
