"""Wheels, racks and threads that show a relation of joint coordinates, Σ cₖ qₖ = const.

Two wheels that roll on each other have the speeds ω₁ r₁ = ∓ ω₂ r₂, and c₁ q̇₁ + c₂ q̇₂ = 0, so that with
parallel axes at a distance a

    r₁/r₂ = |c₁/c₂|,     r₁ + r₂ = a   external,     |r₁ − r₂| = a   internal                              (1)

and where the axes meet at an angle Σ the half angle δ₁ of the pitch cone of the first wheel has

    tan δ₁ = sin Σ/(|c₂/c₁| + cos Σ),     δ₂ = Σ − δ₁                                                      (2)
"""

from typing import Any

import numpy as np

from . import outlines
from .made_shapes import turn_to
from .members import Places, face_width, members_of, solid

FACE = 0.02  # width of a wheel / size of the mechanism
NOMINAL = 0.09  # radius of a wheel whose size does not follow from the distance of the axes / size of the mechanism
LARGEST_WHEEL = 3.0  # radius of a wheel / size of the mechanism
MODULE = 0.012  # of teeth whose number is not given / size of the mechanism
RING = 0.22  # radius of the ring of a planetary set / size of the mechanism
RIM = 3.0  # of a ring with teeth inside / module
PARALLEL_AXES, COINCIDENT_AXES = 1e-6, 1e-3  # |a₁ × a₂|; distance of axes / size of the mechanism
SPOKE = 0.12  # radius of the bore / radius of the wheel
RACK_TURNS = 1.0  # turns of the pinion that a rack is long for
BRASS, IRON = [0.78, 0.62, 0.25, 1.0], [0.55, 0.58, 0.63, 1.0]


def wheels(details: dict, places: Places, size: float, joint: float) -> list:
    """Solids for the members of a relation: each with its joint's ends, axis and coefficient."""
    if "planetary" in details:
        return _planetary(details, places, size)
    members = members_of(details["members"], places)
    turning, sliding = ([m for m in members if m.turns == turns] for turns in (True, False))
    if len(members) == 2 and len(turning) == 2:
        return _pair(turning[0], turning[1], places, size)
    if len(turning) == len(sliding) == 1:
        return _rack(turning[0], sliding[0], places, size)
    found = []
    for k, member in enumerate(turning):
        found += _nominal(member, NOMINAL * (1 + 0.35 * k), k, places, size)
    return found


def _pair(one, two, places, size):
    ratio = abs(one.c / two.c)  # r₁/r₂
    apart = two.center - one.center
    away = apart - one.axis * (apart @ one.axis)
    distance = float(np.linalg.norm(away))
    if np.linalg.norm(np.cross(one.axis, two.axis)) > PARALLEL_AXES:
        return _bevel(one, two, ratio, places, size)
    if distance < COINCIDENT_AXES * size:  # a gearbox between coaxial shafts
        small = NOMINAL * min(1.0, ratio), NOMINAL * min(1.0, 1 / ratio)
        return [x for k, m in enumerate((one, two)) for x in _nominal(m, max(small[k], NOMINAL / 4), k, places, size)]
    external = one.c * two.c * float(one.axis @ two.axis) > 0
    if external:
        radii = distance * ratio / (1 + ratio), distance / (1 + ratio)  # (1)
    elif abs(1 - ratio) > 1e-6:
        radii = distance * ratio / abs(1 - ratio), distance / abs(1 - ratio)  # (1)
    else:
        radii = (np.inf, np.inf)
    if max(radii) > LARGEST_WHEEL * size:  # wheels that a chain connects, not their teeth
        larger = 0.3 * distance
        radii = larger * min(1.0, ratio), larger * min(1.0, 1 / ratio)
        external = True
    module = 2 * min(radii) / _teeth(min(radii), size)
    towards = away / distance * (1.0 if external or radii[0] < radii[1] else -1.0)
    towards = (towards, -towards if external else towards)
    found = []
    for k, (member, radius) in enumerate(zip((one, two), radii)):
        inside, teeth = not external and radius == max(radii), round(2 * radius / module)
        gap = inside or (external and k == 1)  # of one a gap is where of the other a tooth is
        center = one.center if k == 0 else one.center + away
        found.append(_wheel(member, center, radius, teeth, inside, k, places, size, towards[k], gap))
    return found


def _bevel(one, two, ratio, places, size):
    """Two wheels whose axes meet, or pass each other: (2)."""
    meet = np.linalg.lstsq(np.column_stack([one.axis, -two.axis]), two.center - one.center, rcond=None)[0]
    apex = [one.center + meet[0] * one.axis, two.center + meet[1] * two.axis]
    if np.linalg.norm(apex[1] - apex[0]) > COINCIDENT_AXES * size:
        return [x for k, m in enumerate((one, two)) for x in _nominal(m, NOMINAL * (1 if k else 0.5), k, places, size)]
    axes = [m.axis * (1.0 if (m.center - apex[0]) @ m.axis >= 0 else -1.0) for m in (one, two)]
    sigma = float(np.arccos(np.clip(axes[0] @ axes[1], -1, 1)))
    half = float(np.arctan2(np.sin(sigma), 1 / ratio + np.cos(sigma)))
    side, found = 1.6 * NOMINAL * size, []
    for k, (member, axis, angle) in enumerate(zip((one, two), axes, (half, sigma - half))):
        radius = side * np.sin(angle)
        teeth = _teeth(radius, size)
        found.append(_wheel(member, apex[0] + side * np.cos(angle) * axis, radius, teeth, False, k, places, size))
    return found


def _rack(pinion, slide, places, size):
    """A pinion with its rack, or a spindle with a thread."""
    reach = abs(slide.c / pinion.c)  # dφ/dx
    if np.linalg.norm(np.cross(pinion.axis, slide.axis)) < 0.5:
        turns, length = 8, 0.3 * size
        local = places.inside(pinion.body, pinion.center, turn_to(pinion.axis))
        return [solid(pinion.body, "thread", [0.02 * size, length, turns], local, IRON)]
    radius = min(1 / reach, LARGEST_WHEEL * size)
    teeth = _teeth(radius, size)
    pitch = 2 * np.pi * radius / teeth
    forward = -slide.c * pinion.c > 0  # x grows with φ: the rack passes where the pinion's rim moves along its axis
    normal = np.cross(slide.axis, pinion.axis) * (1.0 if forward else -1.0)
    normal /= np.linalg.norm(normal)
    found = [_wheel(pinion, pinion.center, radius, teeth, False, 0, places, size)]
    length = max(2 * np.pi * radius * RACK_TURNS, 0.3 * size)
    R = np.column_stack([slide.axis, -normal, np.cross(slide.axis, -normal)])
    at = pinion.center + radius * normal
    local = places.inside(slide.body, at, R)
    outline = outlines.rack(pitch, length, 0.6 * pitch)
    return [*found, solid(slide.body, "extrusion", [FACE * size], local, BRASS, outline)]


def _planetary(details, places, size):
    """Sun, ring and planets of a set, which has no planets of its own: three are drawn on the carrier."""
    z_s, z_r = np.asarray(details["teeth"], float)
    parts = {name: members_of(joints, places)[0] for name, joints in details["planetary"].items()}
    ring = RING * size
    sun, planet, found = ring * z_s / z_r, ring * (1 - z_s / z_r) / 2, []
    x = turn_to(next(iter(parts.values())).axis)[:, 0]
    teeth = [max(outlines.FEWEST_TEETH, round(2 * r / (0.5 * MODULE * size))) for r in (sun, planet, ring)]
    if "sun" in parts:
        found.append(_wheel(parts["sun"], parts["sun"].center, sun, teeth[0], False, 0, places, size, x))
    if "ring" in parts:
        found.append(_wheel(parts["ring"], parts["ring"].center, ring, teeth[2], True, 1, places, size, x))
    if "carrier" in parts:
        arm = parts["carrier"]
        y = np.cross(arm.axis, x)
        for angle in 2 * np.pi * np.arange(3) / 3:
            out = np.cos(angle) * x + np.sin(angle) * y
            found.append(
                _wheel(arm, arm.center + (sun + planet) * out, planet, teeth[1], False, 1, places, size, -out, True)
            )
    return found


def _teeth(radius, size):
    return max(outlines.FEWEST_TEETH, min(48, round(2 * radius / (MODULE * size))))


def _nominal(member, share, k, places, size):
    """A wheel of a nominal size on its own axis; wheels of one relation stand next to each other."""
    radius = share * size
    at = member.center + (k * 1.3 * FACE * size) * member.axis
    return [_wheel(member, at, radius, _teeth(radius, size), False, k, places, size)]


def _wheel(member, center, radius, teeth, inside, k, places, size, towards=None, gap=False) -> dict[str, Any]:
    """A wheel with a tooth, or a gap, where another wheel touches it."""
    R = turn_to(member.axis)
    if towards is not None:
        R = np.column_stack([towards, np.cross(member.axis, towards), member.axis])
        half = np.pi / teeth if gap else 0.0
        c, s = np.cos(half), np.sin(half)
        R = R @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    local = places.inside(member.body, center, R)
    colour, face = (BRASS, IRON)[k % 2], face_width(member.body, local, radius, FACE * size, places)
    if inside:
        rim = radius + RIM * 2 * radius / max(teeth, outlines.FEWEST_TEETH)
        hole = outlines.gear(radius, teeth, inside=True)
        return solid(member.body, "extrusion", [face], local, colour, outlines.circle(rim), [hole])
    outline, bores = outlines.gear(radius, teeth), [outlines.circle(SPOKE * radius)]
    bores += outlines.circles(0.16 * radius, 0.55 * radius, 4)
    return solid(member.body, "extrusion", [face], local, colour, outline, bores)
